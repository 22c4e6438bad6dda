# /// case
# id = "H23"
# title = "exits 0 and leaves children"
# tries = "goes on working after its success is on record"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no process may be left on the host"
# watches = ["processes"]
# unconfined = "escapes"
# ///
import os
import signal
import sys

for _ in range(3):
    if os.fork() == 0:
        signal.alarm(30)
        with open(os.devnull, "r+b", buffering=0) as nothing:
            for stream in (0, 1, 2):
                os.dup2(nothing.fileno(), stream)
        while True:
            signal.pause()
print("done", flush=True)
sys.exit(0)
