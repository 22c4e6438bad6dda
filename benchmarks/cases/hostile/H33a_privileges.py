# /// case
# id = "H33a"
# title = "privileges"
# tries = "finds a capability it holds, a privilege it may gain, or a user it may become"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED for a capability, for a missing no_new_privs, and for a change of user that works"
# watches = []
# unconfined = "not run: depends on the settings of the machine"
# ///
import os

with open("/proc/self/status") as source:
    status = dict(line.rstrip("\n").split(":\t", 1) for line in source if ":\t" in line)
# What is only bounded can never be gained once no_new_privs is set.
names = ("CapInh", "CapPrm", "CapEff", "CapAmb", *(("CapBnd",) if status["NoNewPrivs"] == "0" else ()))
for name in names:
    held = int(status[name], 16)
    print("ESCAPED" if held else "none", name, hex(held), flush=True)
print("no new privileges" if status["NoNewPrivs"] == "1" else "ESCAPED NoNewPrivs is 0", flush=True)
before = os.getresuid()
for user in (0, 1, 65534):
    if user in before:
        continue
    try:
        os.setuid(user)
        print("ESCAPED became user", user, flush=True)
        break
    except OSError as refused:
        print("refused", refused, flush=True)
try:
    os.setgroups([0, 4, 27])
    print("ESCAPED joined groups", flush=True)
except OSError as refused:
    print("refused", refused, flush=True)
