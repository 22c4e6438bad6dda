# /// case
# id = "H08a"
# title = "inode flood"
# tries = "makes 60,000 empty files"
# limits = { wall_s = 30, files = 2000 }
# endings = ["file-limit"]
# proof = "says ESCAPED once 60,000 files are there"
# watches = ["scratch"]
# unconfined = "not run: litters 60,000 files"
# ///
import os

for folder in range(60):
    os.mkdir(f"d{folder}")
    for number in range(1000):
        os.close(os.open(f"d{folder}/{number}", os.O_CREAT | os.O_WRONLY))
print("ESCAPED 60,000 files made", flush=True)
