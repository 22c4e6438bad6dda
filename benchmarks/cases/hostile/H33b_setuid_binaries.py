# /// case
# id = "H33b"
# title = "setuid binaries"
# tries = "gains privileges through a setuid binary of the system and through one of its own making"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED when a process holds another effective user or a capability"
# watches = []
# unconfined = "not run: what the machine's own setuid binaries do is not ours to try"
# ///
import os
import shutil
import subprocess
import sys

ASK = "import os; print('users', *os.getresuid(), *os.getresgid())"
me = " ".join(str(number) for number in ("users", *os.getresuid(), *os.getresgid()))
shutil.copy(os.path.realpath(sys.executable), "own")
for mode in (0o4755, 0o2755, 0o6755):
    try:
        os.chmod("own", mode)
    except OSError as refused:
        print("refused", refused, flush=True)
        continue
    said = subprocess.run(["./own", "-I", "-S", "-c", ASK], capture_output=True, text=True, check=False).stdout.strip()
    print("same users" if said in (me, "") else f"ESCAPED own binary ran as {said}", flush=True)
for name in ("su", "mount", "newgrp", "sudo", "pkexec", "fusermount3", "passwd"):
    path = shutil.which(name)
    if path is None or not os.stat(path).st_mode & 0o6000:
        continue
    held = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with open(f"/proc/{held.pid}/status") as source:
            users = next(line.split()[1:] for line in source if line.startswith("Uid:"))
        print("ESCAPED setuid ran" if len(set(users)) > 1 else "no other user", path, users, flush=True)
    except (OSError, StopIteration) as gone:
        print("gone", path, gone, flush=True)
    held.kill()
    held.wait()
