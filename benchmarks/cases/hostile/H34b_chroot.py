# /// case
# id = "H34b"
# title = "chroot and pivot_root"
# tries = "changes its root to climb out of it"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED when a change of root succeeds"
# watches = []
# unconfined = "not run: depends on the settings of the machine"
# ///
import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
os.mkdir("root")
pivot = {"x86_64": 155, "aarch64": 41}.get(platform.machine())
if pivot is not None:
    done = libc.syscall(ctypes.c_long(pivot), b"root", b"root") == 0
    print("ESCAPED pivot_root" if done else "refused", os.strerror(ctypes.get_errno()), flush=True)
try:
    os.chroot("root")
    print("ESCAPED chroot", flush=True)
except OSError as refused:
    print("refused", refused, flush=True)
