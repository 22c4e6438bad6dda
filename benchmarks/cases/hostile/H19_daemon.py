# /// case
# id = "H19"
# title = "daemon by double fork"
# tries = "leaves a daemon in a session of its own, with a cleaned environment and no open descriptor"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no process may be left on the host"
# watches = ["processes"]
# unconfined = "escapes"
# ///
import os
import sys

if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 64)
    os.chdir("/")
    os.execve(sys.executable, [sys.executable, "-I", "-c", "import time; time.sleep(30)"], {})
os.wait()
print("daemon started", flush=True)
