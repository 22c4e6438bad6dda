# /// case
# id = "H05b"
# title = "memfd"
# tries = "writes 1.2 GB into a file that has no name and is mapped by nobody"
# limits = { wall_s = 20, memory_mib = 256, disk_mib = 128 }
# endings = ["memory-limit", "disk-limit"]
# proof = "says ESCAPED once 1.2 GB are written"
# watches = []
# unconfined = "not run: takes 1.2 GB of the machine"
# ///
import os

sink = os.memfd_create("canary")
for _ in range(150):
    os.write(sink, b"x" * (8 * 1024 * 1024))
print("ESCAPED 1.2 GB in a memfd", flush=True)
