# /// case
# id = "H09c"
# title = "binary output"
# tries = "prints every byte there is, broken UTF-8 and NUL, within the limit"
# limits = { wall_s = 15, output_mib = 4 }
# endings = ["ok"]
# proof = "the kept output is clean text, with no control character but newline and tab"
# watches = ["output"]
# unconfined = "not run: nothing to show, the tiers share one reader of output"
# ///
import os

os.write(1, bytes(range(256)) * 2000)
os.write(1, b"\xf0\x9f\x92" * 1000 + b"\xed\xa0\x80" + b"\x00" * 1000 + b"\nlast line\n")
