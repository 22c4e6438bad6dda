# /// case
# id = "H10b"
# title = "CPU budget spent in children"
# tries = "spends CPU time in a chain of short-lived children, each below any per-process limit"
# limits = { wall_s = 20, cpu_s = 1.0 }
# endings = ["timeout"]
# why = "cpu"
# proof = "ends for CPU time, before its wall time is over"
# watches = ["processes"]
# unconfined = "not run: spins for half a minute"
# ///
import os
import time

started = time.monotonic()
while time.monotonic() - started < 19:
    child = os.fork()
    if child == 0:
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass
        os._exit(0)
    os.waitpid(child, 0)
print("ESCAPED the CPU budget did not count children", flush=True)
