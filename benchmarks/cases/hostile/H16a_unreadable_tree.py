# /// case
# id = "H16a"
# title = "unreadable tree"
# tries = "leaves folders of mode 000, read-only folders and an immutable file"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "nothing of it may be left on the host"
# watches = ["scratch"]
# unconfined = "not run: leaves a tree that is hard to remove"
# ///
import array
import fcntl
import os

for number in range(20):
    os.makedirs(f"locked{number}/inner/deeper")
    open(f"locked{number}/inner/file", "w").close()
for number in range(20):
    os.chmod(f"locked{number}/inner/file", 0)
    os.chmod(f"locked{number}/inner", 0o555 if number % 2 else 0)
    os.chmod(f"locked{number}", 0)
FS_IOC_SETFLAGS, IMMUTABLE = 0x40086602, 0x10
try:
    with open("immutable", "w") as sink:
        fcntl.ioctl(sink, FS_IOC_SETFLAGS, array.array("l", [IMMUTABLE]))
    print("ESCAPED an immutable file", flush=True)
except OSError as refused:
    print("refused", refused, flush=True)
os.chmod(".", 0)
