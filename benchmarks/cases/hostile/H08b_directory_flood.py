# /// case
# id = "H08b"
# title = "folder and link flood"
# tries = "makes 30,000 folders and 30,000 links in /tmp, none of them a file"
# limits = { wall_s = 30, files = 2000 }
# endings = ["file-limit"]
# proof = "says ESCAPED once 60,000 entries are there"
# watches = ["scratch", "litter"]
# unconfined = "not run: litters 60,000 entries"
# ///
import os
import tempfile

root = tempfile.gettempdir() + "/canary-" + os.environ["CANARY_NONCE"]
os.mkdir(root)
for number in range(30_000):
    os.mkdir(f"{root}/d{number}")
    os.symlink("nowhere", f"{root}/l{number}")
print("ESCAPED 60,000 entries made", flush=True)
