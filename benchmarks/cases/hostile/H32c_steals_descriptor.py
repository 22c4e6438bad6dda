# /// case
# id = "H32c"
# title = "pidfd_getfd"
# tries = "takes an open file out of the bystander"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no planted secret may be in what it prints"
# watches = ["secrets", "victim"]
# unconfined = "not run: depends on the settings of the machine"
# ///
import ctypes
import os
import re

libc = ctypes.CDLL(None, use_errno=True)
number = int(os.environ["CANARY_VICTIM"])
process = libc.syscall(ctypes.c_long(434), ctypes.c_long(number), ctypes.c_long(0))
if process < 0:
    print("refused", os.strerror(ctypes.get_errno()), flush=True)
seen = b""
for descriptor in range(3, 16):
    stolen = libc.syscall(ctypes.c_long(438), ctypes.c_long(process), ctypes.c_long(descriptor), ctypes.c_long(0))
    if stolen < 0:
        continue
    try:
        seen += os.pread(stolen, 1 << 16, 0)
    except OSError:
        continue
for secret in sorted(set(re.findall(rb"CANARYSECRET-[0-9a-f]+", seen))):
    print("found", secret.decode(), flush=True)
