# /// case
# id = "H39k"
# title = "result behind a linked folder"
# tries = "puts a link where the folder of the result should be"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["out/secret.txt"]
# endings = ["result-refused"]
# proof = "no planted secret may be in what comes back, and collecting ends"
# watches = ["secrets"]
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
import os

os.symlink(os.environ["CANARY_OUTSIDE"], "out")
