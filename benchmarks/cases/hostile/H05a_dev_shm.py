# /// case
# id = "H05a"
# title = "/dev/shm"
# tries = "writes 1.2 GB into /dev/shm"
# limits = { wall_s = 20, memory_mib = 256, disk_mib = 128 }
# endings = ["disk-limit", "memory-limit", "ok"]
# proof = "says ESCAPED once 1.2 GB are written, ends as ok only where there is no /dev/shm at all; nothing by its name may be in the host's /dev/shm"
# watches = ["litter"]
# unconfined = "not run: takes 1.2 GB of the machine"
# ///
import os

try:
    sink = open("/dev/shm/canary-" + os.environ["CANARY_NONCE"], "wb", buffering=0)
except PermissionError:
    raise SystemExit(print("there is no /dev/shm")) from None
for _ in range(150):
    sink.write(b"x" * (8 * 1024 * 1024))
print("ESCAPED 1.2 GB in /dev/shm", flush=True)
