# /// case
# id = "H32a"
# title = "ptrace"
# tries = "attaches to the supervisor and to a bystander"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED when it is attached; the bystander and the supervisor are alive and unstopped"
# watches = ["victim", "supervisor"]
# unconfined = "not run: depends on the settings of the machine"
# ///
import ctypes
import os

PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
for name in ("CANARY_VICTIM", "CANARY_SUPERVISOR"):
    number = int(os.environ[name])
    if libc.ptrace(PTRACE_SEIZE, number, None, None) == 0:
        print("ESCAPED attached to", name, flush=True)
    else:
        print("refused", name, os.strerror(ctypes.get_errno()), flush=True)
