# /// case
# id = "H04"
# title = "memory across children"
# tries = "holds 1.2 GB in six children of 200 MB each, none of which is over the limit alone"
# limits = { wall_s = 20, memory_mib = 384 }
# endings = ["memory-limit"]
# proof = "says ESCAPED once all six children hold their part"
# watches = ["processes"]
# unconfined = "not run: takes 1.2 GB of the machine"
# ///
import os
import signal
import time

ready, tell = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        signal.alarm(30)
        part = bytearray(b"x") * (200 * 1024 * 1024)
        os.write(tell, b"x")
        time.sleep(25)
        os._exit(len(part) == 0)
os.close(tell)
told = 0
while told < 6 and os.read(ready, 1):
    told += 1
time.sleep(1)
print("ESCAPED" if told == 6 else "refused", told, "children hold their part", flush=True)
os._exit(0)
