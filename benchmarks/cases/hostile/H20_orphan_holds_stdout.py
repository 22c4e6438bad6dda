# /// case
# id = "H20"
# title = "orphan holds stdout"
# tries = "exits at once while an orphan keeps the output pipe open, so that a reader waits for ever"
# limits = { wall_s = 12 }
# endings = ["ok"]
# proof = "no process may be left on the host; ends as ok and not at the deadline"
# watches = ["processes"]
# unconfined = "escapes"
# ///
import os
import time

if os.fork() == 0:
    os.setsid()
    time.sleep(30)
    os._exit(0)
print("orphan started", flush=True)
os._exit(0)
