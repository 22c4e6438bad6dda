# /// case
# id = "H17"
# title = "ignores every signal it can"
# tries = "survives its deadline by ignoring SIGTERM, SIGINT, SIGHUP and the rest, in a child too"
# limits = { wall_s = 2 }
# endings = ["timeout"]
# proof = "no process may be left on the host"
# watches = ["processes"]
# unconfined = "not run: needs SIGKILL to end"
# ///
import os
import signal
import time

for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
os.fork()
until = time.monotonic() + 30
while time.monotonic() < until:
    time.sleep(1)
