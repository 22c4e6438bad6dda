# /// case
# id = "H37c"
# title = "userfaultfd"
# tries = "gets a handle on page faults, a favourite of kernel exploits"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED when the kernel gives it a descriptor"
# watches = []
# unconfined = "not run: the machine's own kernel decides"
# ///
import ctypes
import os
import platform

number = {"x86_64": 323, "aarch64": 282}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
got = libc.syscall(ctypes.c_long(number), ctypes.c_long(1))
print("ESCAPED userfaultfd" if got >= 0 else "refused", got, os.strerror(ctypes.get_errno()), flush=True)
