# /// case
# id = "H06b"
# title = "a huge file without a name"
# tries = "unlinks its file while it is open and goes on writing 800 MB, which no walk of the tree can see"
# limits = { wall_s = 20, disk_mib = 64 }
# endings = ["disk-limit"]
# proof = "says ESCAPED once 800 MB are written"
# watches = ["scratch"]
# unconfined = "not run: fills 800 MB of the disk"
# ///
import os

parts = []
for number in range(40):
    sink = open(f"part{number}", "wb", buffering=0)
    os.unlink(f"part{number}")
    parts.append(sink)
    for _ in range(5):
        sink.write(b"x" * (4 * 1024 * 1024))
print("ESCAPED 800 MB written without a name", flush=True)
