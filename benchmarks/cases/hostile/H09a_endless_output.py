# /// case
# id = "H09a"
# title = "endless output"
# tries = "prints lines for ever on both streams"
# limits = { wall_s = 20, output_mib = 4 }
# endings = ["output-limit"]
# proof = "the supervisor stays small and ends it before its deadline"
# watches = []
# unconfined = "not run: prints for ever"
# ///
import os

line = b"x" * 79 + b"\n"
for _ in range(1_000_000):
    os.write(1, line * 400)
    os.write(2, line * 400)
