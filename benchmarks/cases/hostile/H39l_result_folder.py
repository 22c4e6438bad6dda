# /// case
# id = "H39l"
# title = "result is a folder"
# tries = "makes the collector read a folder"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# endings = ["result-refused"]
# proof = "collecting ends"
# watches = []
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
import os

os.makedirs("result.json/inner")
