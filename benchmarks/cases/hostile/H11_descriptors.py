# /// case
# id = "H11"
# title = "descriptor exhaustion"
# tries = "opens 100,000 descriptors and keeps them"
# limits = { wall_s = 20 }
# endings = ["ok"]
# proof = "says ESCAPED once 100,000 descriptors are open"
# watches = []
# unconfined = "not run: the machine's own limit decides"
# ///
import os
import resource

_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
except (ValueError, OSError):
    pass
opened = 0
try:
    while opened < 100_000:
        os.open("/dev/null", os.O_RDONLY)
        opened += 1
except OSError as refused:
    os.write(1, f"refused after {opened}: {refused}\n".encode())
else:
    os.write(1, b"ESCAPED 100,000 descriptors open\n")
os._exit(0)
