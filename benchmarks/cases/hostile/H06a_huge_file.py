# /// case
# id = "H06a"
# title = "one huge file"
# tries = "writes 800 MB into one file of the work folder"
# limits = { wall_s = 20, disk_mib = 64 }
# endings = ["disk-limit"]
# proof = "says ESCAPED once 800 MB are written"
# watches = ["scratch"]
# unconfined = "not run: fills 800 MB of the disk"
# ///
with open("huge", "wb", buffering=0) as sink:
    for _ in range(200):
        sink.write(b"x" * (4 * 1024 * 1024))
print("ESCAPED 800 MB written", flush=True)
