# /// case
# id = "H10a"
# title = "CPU spin on all cores"
# tries = "spins in nine processes until long after the deadline"
# limits = { wall_s = 2 }
# endings = ["timeout"]
# proof = "no process may be left on the host"
# watches = ["processes"]
# unconfined = "not run: spins on every core for half a minute"
# ///
import os
import signal

for _ in range(8):
    if os.fork() == 0:
        break
signal.alarm(30)
while True:
    pass
