# /// case
# id = "H08c"
# title = "inode flood in /dev/shm"
# tries = "makes 60,000 empty files in memory"
# limits = { wall_s = 30, files = 2000 }
# endings = ["file-limit", "memory-limit", "ok"]
# proof = "says ESCAPED once 60,000 files are there, ends as ok only where there is no /dev/shm at all"
# watches = ["litter"]
# unconfined = "not run: litters 60,000 files"
# ///
import os

root = "/dev/shm/canary-" + os.environ["CANARY_NONCE"]
try:
    os.mkdir(root)
except PermissionError:
    raise SystemExit(print("there is no /dev/shm")) from None
for number in range(60_000):
    os.close(os.open(f"{root}/{number}", os.O_CREAT | os.O_WRONLY))
print("ESCAPED 60,000 files made", flush=True)
