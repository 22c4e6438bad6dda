# /// case
# id = "H09b"
# title = "endless output without a newline"
# tries = "makes a reader of lines wait and grow for ever"
# limits = { wall_s = 20, output_mib = 4 }
# endings = ["output-limit"]
# proof = "the supervisor stays small and ends it before its deadline"
# watches = []
# unconfined = "not run: prints for ever"
# ///
import os

for _ in range(10_000_000):
    os.write(1, b"x" * 4096)
