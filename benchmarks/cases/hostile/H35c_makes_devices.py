# /// case
# id = "H35c"
# title = "makes device nodes"
# tries = "makes nodes for the disks and the memory of the machine and opens them"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED for every node it made that opens"
# watches = []
# unconfined = "not run: depends on the user who runs it"
# ///
import os
import stat

for name, kind, major, minor in (
    ("mem", stat.S_IFCHR, 1, 1), ("kmsg", stat.S_IFCHR, 1, 11), ("sda", stat.S_IFBLK, 8, 0), ("vda", stat.S_IFBLK, 254, 0),
    ("loop", stat.S_IFBLK, 7, 0), ("null", stat.S_IFCHR, 1, 3),
):
    for folder in (".", "/tmp", "/dev", "/dev/shm"):
        try:
            os.mknod(f"{folder}/canary-{name}", kind | 0o600, os.makedev(major, minor))
            os.close(os.open(f"{folder}/canary-{name}", os.O_RDONLY))
            print("ESCAPED made and opened", folder, name, flush=True)
        except OSError as refused:
            print("refused", refused, flush=True)
