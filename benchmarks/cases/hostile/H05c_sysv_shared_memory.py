# /// case
# id = "H05c"
# title = "System V shared memory"
# tries = "leaves a shared memory segment that outlives every process"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "the host looks for the segment by its key"
# watches = ["sysv"]
# unconfined = "escapes"
# ///
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
key = int(os.environ["CANARY_NONCE"][:7], 16)
segment = libc.shmget(key, ctypes.c_size_t(1024 * 1024), 0o1000 | 0o600)
print("segment", segment, flush=True)
