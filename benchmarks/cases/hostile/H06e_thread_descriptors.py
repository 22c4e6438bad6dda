# /// case
# id = "H06e"
# title = "a huge file in a thread's own descriptors"
# tries = "writes 800 MB into unlinked files that only a thread with a descriptor table of its own holds open"
# limits = { wall_s = 20, disk_mib = 64 }
# endings = ["disk-limit"]
# proof = "says ESCAPED once 800 MB are written and held for a second"
# watches = ["scratch"]
# unconfined = "not run: fills 800 MB of the disk"
# ///
import ctypes
import os
import threading
import time

CLONE_FILES = 0x400


def fill():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_FILES) != 0:
        print("shares its descriptors", flush=True)
    for number in range(40):
        sink = os.open(f"part{number}", os.O_CREAT | os.O_RDWR)
        os.unlink(f"part{number}")
        for _ in range(5):
            os.write(sink, b"x" * (4 * 1024 * 1024))
    time.sleep(1)
    print("ESCAPED 800 MB held by a thread", flush=True)


thread = threading.Thread(target=fill)
thread.start()
thread.join()
