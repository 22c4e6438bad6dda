# /// case
# id = "H39b"
# title = "result is a FIFO"
# tries = "makes the collector wait for ever"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# endings = ["result-refused"]
# proof = "collecting ends"
# watches = []
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
import os

os.mkfifo("result.json")
