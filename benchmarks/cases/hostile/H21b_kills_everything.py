# /// case
# id = "H21b"
# title = "kill(-1)"
# tries = "kills every process it may signal"
# limits = { wall_s = 15 }
# endings = ["ok", "signal"]
# proof = "the supervisor and the bystander are alive afterwards; done only where it is in another PID namespace"
# watches = ["supervisor", "victim"]
# unconfined = "not run: outside a PID namespace it holds back, so as not to kill the machine"
# ///
import os
import signal

try:
    confined = os.readlink("/proc/self/ns/pid") != os.environ["CANARY_PIDNS"]
except OSError:
    confined = False
if confined:
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError as refused:
        print("refused", refused, flush=True)
else:
    for name in ("CANARY_VICTIM", "CANARY_SUPERVISOR"):
        try:
            os.kill(int(os.environ[name]), signal.SIGKILL)
        except OSError as refused:
            print("refused", refused, flush=True)
print("still here", flush=True)
