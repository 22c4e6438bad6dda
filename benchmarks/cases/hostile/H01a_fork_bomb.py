# /// case
# id = "H01a"
# title = "fork bomb"
# tries = "starts 600 children that stay, and starts more whenever it is refused"
# limits = { wall_s = 15, processes = 64 }
# endings = ["process-limit"]
# proof = "says ESCAPED once 600 children live; no process may be left on the host"
# watches = ["processes"]
# unconfined = "escapes"
# ///
import os
import signal
import time

alive = 0
for _ in range(3000):
    try:
        child = os.fork()
    except OSError:
        time.sleep(0.005)
        continue
    if child == 0:
        signal.alarm(30)
        time.sleep(30)
        os._exit(0)
    alive += 1
    if alive == 600:
        print("ESCAPED 600 children live", flush=True)
        break
os._exit(0)
