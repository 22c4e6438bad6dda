# /// case
# id = "H39a"
# title = "result is a symbolic link"
# tries = "makes the collector follow a link to a secret of the host"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# endings = ["result-refused"]
# proof = "no planted secret may be in what comes back, and collecting ends"
# watches = ["secrets"]
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
import os

os.symlink(os.environ["CANARY_OUTSIDE"] + "/secret.txt", "result.json")
