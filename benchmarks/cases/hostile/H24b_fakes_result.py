# /// case
# id = "H24b"
# title = "leaves a success file and never ends"
# tries = "has its half-done work taken for a success"
# limits = { wall_s = 2 }
# collect = ["result.json"]
# endings = ["timeout"]
# proof = "the ending is timeout"
# watches = ["ending", "processes"]
# unconfined = "not run: nothing to show, a plain process is ended the same"
# ///
import time

with open("result.json", "w") as sink:
    sink.write('{"ending": "ok", "accuracy": 1.0}')
time.sleep(30)
