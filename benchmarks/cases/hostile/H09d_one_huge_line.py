# /// case
# id = "H09d"
# title = "one line of 2 GB"
# tries = "prints 2 GB in one line and ends it properly"
# limits = { wall_s = 20, output_mib = 4 }
# endings = ["output-limit"]
# proof = "the supervisor stays small and ends it before its deadline"
# watches = []
# unconfined = "not run: prints 2 GB"
# ///
import os

for _ in range(2048):
    os.write(1, b"x" * (1024 * 1024))
os.write(1, b"\n")
