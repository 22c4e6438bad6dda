# /// case
# id = "H32b"
# title = "process_vm_readv and /proc/*/mem"
# tries = "reads the memory of the bystander, where a secret lies"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no planted secret may be in what it prints"
# watches = ["secrets", "victim"]
# unconfined = "not run: depends on the settings of the machine"
# ///
import ctypes
import os
import re


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
number, address, size = (int(os.environ["CANARY_" + name]) for name in ("VICTIM", "ADDRESS", "SIZE"))
buffer = ctypes.create_string_buffer(size)
local, remote = Part(ctypes.addressof(buffer), size), Part(address, size)
libc.process_vm_readv.restype = ctypes.c_ssize_t
got = libc.process_vm_readv(number, ctypes.byref(local), ctypes.c_ulong(1), ctypes.byref(remote), ctypes.c_ulong(1), ctypes.c_ulong(0))
print("process_vm_readv", got, os.strerror(ctypes.get_errno()) if got < 0 else "", flush=True)
seen = buffer.raw
try:
    with open(f"/proc/{number}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        seen += memory.read(size)
except OSError as refused:
    print("refused", refused, flush=True)
for secret in sorted(set(re.findall(rb"CANARYSECRET-[0-9a-f]+", seen))):
    print("found", secret.decode(), flush=True)
