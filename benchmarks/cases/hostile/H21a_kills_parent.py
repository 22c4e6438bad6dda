# /// case
# id = "H21a"
# title = "kills its parents"
# tries = "kills its parent, process 1, the supervisor and a bystander by their numbers"
# limits = { wall_s = 15 }
# endings = ["ok", "signal"]
# proof = "the supervisor and the bystander are alive afterwards"
# watches = ["supervisor", "victim"]
# unconfined = "escapes"
# ///
import os
import signal

same = os.path.exists("/proc/self/ns/pid") and os.readlink("/proc/self/ns/pid") == os.environ["CANARY_PIDNS"]
targets = [int(os.environ["CANARY_VICTIM"]), int(os.environ["CANARY_SUPERVISOR"])]
if not same:
    targets += [os.getppid(), 1, 2, 3]
for number in targets:
    if number == os.getpid():
        continue
    for name in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(number, name)
            print("signalled", number, name, flush=True)
        except OSError as refused:
            print("refused", number, refused, flush=True)
