# /// case
# id = "H37d"
# title = "perf_event_open"
# tries = "counts events of itself and of the whole machine"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED when the kernel gives it a descriptor"
# watches = []
# unconfined = "not run: the machine's own kernel decides"
# ///
import ctypes
import os
import platform
import struct

number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
SOFTWARE, TASK_CLOCK = 1, 1
attributes = ctypes.create_string_buffer(struct.pack("<IIQ", SOFTWARE, 128, TASK_CLOCK).ljust(128, b"\0"))
for process, cpu in ((0, -1), (-1, 0)):
    got = libc.syscall(
        ctypes.c_long(number), attributes, ctypes.c_long(process), ctypes.c_long(cpu), ctypes.c_long(-1), ctypes.c_ulong(0)
    )
    print("ESCAPED perf" if got >= 0 else "refused", process, got, os.strerror(ctypes.get_errno()), flush=True)
