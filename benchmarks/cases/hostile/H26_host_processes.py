# /// case
# id = "H26"
# title = "secrets of other processes"
# tries = "reads environ, cmdline and open files of every process in /proc, the first one included"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no planted secret may be in what it prints; the bystander's number must not be in its /proc"
# watches = ["secrets", "victim"]
# unconfined = "escapes"
# ///
import os
import re

numbers = [name for name in os.listdir("/proc") if name.isdigit()]
seen = b""
for number in [*numbers, os.environ["CANARY_VICTIM"], os.environ["CANARY_SUPERVISOR"]]:
    for name in ("environ", "cmdline", "cwd/secret.txt"):
        try:
            with open(f"/proc/{number}/{name}", "rb") as source:
                seen += source.read(1 << 20)
        except OSError:
            continue
for secret in sorted(set(re.findall(rb"CANARYSECRET-[0-9a-f]+", seen))):
    print("found", secret.decode(), flush=True)
print(len(numbers), "processes seen", flush=True)
