# /// case
# id = "H06c"
# title = "a huge file that is only mapped"
# tries = "writes 800 MB into files that have no name and no open descriptor, only a mapping of one page"
# limits = { wall_s = 20, disk_mib = 64 }
# endings = ["disk-limit"]
# proof = "says ESCAPED once 800 MB are written and held for a second"
# watches = ["scratch"]
# unconfined = "not run: fills 800 MB of the disk"
# ///
import ctypes
import os
import time

PAGE, READ, SHARED = os.sysconf("SC_PAGESIZE"), 1, 1
libc = ctypes.CDLL(None, use_errno=True)
# Python's own mmap keeps a descriptor open, which would give the file away.
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mmap.restype = ctypes.c_void_p
for number in range(40):
    name = f"part{number}"
    sink = os.open(name, os.O_CREAT | os.O_RDWR)
    os.unlink(name)
    os.write(sink, b"x" * PAGE)
    assert libc.mmap(None, PAGE, READ, SHARED, sink, 0) not in (None, 2**64 - 1)
    for _ in range(5):
        os.write(sink, b"x" * (4 * 1024 * 1024))
    os.close(sink)
time.sleep(1)
print("ESCAPED 800 MB held by mappings", flush=True)
