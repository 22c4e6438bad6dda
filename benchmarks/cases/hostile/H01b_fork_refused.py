# /// case
# id = "H01b"
# title = "fork bomb that dies of the first refusal"
# tries = "passes the box's limit off as a fault of its own: the refused fork becomes its exit status"
# limits = { wall_s = 15, processes = 64 }
# endings = ["process-limit"]
# proof = "an ending of exit would count as evidence about the program; no process may be left on the host"
# watches = ["processes"]
# unconfined = "escapes"
# ///
import os
import signal
import time

for _ in range(600):
    if os.fork() == 0:
        signal.alarm(30)
        time.sleep(30)
        os._exit(0)
print("ESCAPED 600 children live", flush=True)
os._exit(0)
