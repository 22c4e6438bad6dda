# /// case
# id = "H22"
# title = "zombies"
# tries = "leaves 200 dead children unreaped, half of them orphans"
# limits = { wall_s = 15, processes = 400 }
# endings = ["ok"]
# proof = "no process may be left on the host, not even a dead one"
# watches = ["processes"]
# unconfined = "not run: the machine's own init reaps them"
# ///
import os
import time

for number in range(100):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(1)
        os._exit(0)
time.sleep(0.2)
print("200 dead children", flush=True)
os._exit(0)
