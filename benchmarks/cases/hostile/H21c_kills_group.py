# /// case
# id = "H21c"
# title = "kills its process group and session"
# tries = "takes the supervisor along with its own process group"
# limits = { wall_s = 15 }
# endings = ["ok", "signal", "killed"]
# proof = "the supervisor and the bystander are alive afterwards"
# watches = ["supervisor", "victim"]
# unconfined = "not run: the kernel's own rules for groups apply"
# ///
import os
import signal

signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.killpg(0, signal.SIGHUP)
os.killpg(0, signal.SIGKILL)
