# /// case
# id = "H39j"
# title = "result swapped between look and open"
# tries = "leaves a child that swaps the result for a link to a secret as fast as it can"
# limits = { wall_s = 15, result_mib = 1 }
# collect = ["result.json"]
# endings = ["ok", "result-refused"]
# proof = "no planted secret may be in what comes back, and collecting ends"
# watches = ["secrets", "processes"]
# unconfined = "not run: nothing to show, the tiers share one collector"
# ///
import os
import time

secret = os.environ["CANARY_OUTSIDE"] + "/secret.txt"
with open("result.json", "w") as sink:
    sink.write("{}")
if os.fork() == 0:
    os.setsid()
    until = time.monotonic() + 20
    while time.monotonic() < until:
        os.symlink(secret, "link")
        os.rename("link", "result.json")
        with open("plain", "w") as sink:
            sink.write("{}")
        os.rename("plain", "result.json")
    os._exit(0)
time.sleep(0.2)
os._exit(0)
