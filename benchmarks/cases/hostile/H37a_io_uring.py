# /// case
# id = "H37a"
# title = "io_uring"
# tries = "gets a ring for asynchronous system calls, which go past a filter of system calls"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED when the kernel gives it a descriptor"
# watches = []
# unconfined = "not run: the machine's own kernel decides"
# ///
import ctypes
import os
import platform

number = {"x86_64": 425, "aarch64": 425}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
got = libc.syscall(ctypes.c_long(number), ctypes.c_long(4), ctypes.create_string_buffer(120))
print("ESCAPED io_uring_setup" if got >= 0 else "refused", got, os.strerror(ctypes.get_errno()), flush=True)
