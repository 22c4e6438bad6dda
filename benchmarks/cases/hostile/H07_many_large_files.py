# /// case
# id = "H07"
# title = "many files that are large together"
# tries = "writes 100 files of 8 MB, half of them in /tmp"
# limits = { wall_s = 20, disk_mib = 64 }
# endings = ["disk-limit"]
# proof = "says ESCAPED once 800 MB are written"
# watches = ["scratch", "litter"]
# unconfined = "not run: fills 800 MB of the disk"
# ///
import os
import tempfile

nonce = os.environ["CANARY_NONCE"]
for number in range(100):
    folder = tempfile.gettempdir() if number % 2 else "."
    with open(f"{folder}/canary-{nonce}-{number}", "wb") as sink:
        sink.write(b"x" * (8 * 1024 * 1024))
print("ESCAPED 800 MB in 100 files", flush=True)
