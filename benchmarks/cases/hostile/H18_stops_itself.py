# /// case
# id = "H18"
# title = "stops itself"
# tries = "survives its deadline as a stopped process with a stopped child, which no gentle signal wakes"
# limits = { wall_s = 2 }
# endings = ["timeout"]
# proof = "no process may be left on the host"
# watches = ["processes"]
# unconfined = "not run: stays stopped for ever"
# ///
import os
import signal

if os.fork() == 0:
    os.setsid()
os.kill(os.getpid(), signal.SIGSTOP)
os._exit(0)
