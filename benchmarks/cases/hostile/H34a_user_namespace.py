# /// case
# id = "H34a"
# title = "nested user namespace"
# tries = "becomes root in a namespace of its own and mounts there"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED when it enters a new user namespace, by unshare, by clone and by setns"
# watches = []
# unconfined = "not run: depends on the settings of the machine"
# ///
import ctypes
import os
import platform

CLONE_NEWUSER, CLONE_NEWNS, SIGCHLD = 0x10000000, 0x00020000, 17
libc = ctypes.CDLL(None, use_errno=True)
before = os.readlink("/proc/self/ns/user")


def show(name, done):
    print("ESCAPED" if done else "refused", name, "" if done else os.strerror(ctypes.get_errno()), flush=True)


child = os.fork()
if child == 0:
    show("unshare", libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 and os.readlink("/proc/self/ns/user") != before)
    os._exit(0)
os.waitpid(child, 0)
clone = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
if clone is not None:
    child = libc.syscall(ctypes.c_long(clone), ctypes.c_ulong(CLONE_NEWUSER | SIGCHLD), None, None, None, None)
    if child == 0:
        os._exit(0)
    show("clone", child > 0)
arguments = (ctypes.c_uint64 * 8)(CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0)
child = libc.syscall(ctypes.c_long(435), ctypes.byref(arguments), ctypes.c_size_t(64))
if child == 0:
    os._exit(0)
show("clone3", child > 0)
for name in ("user", "mnt", "pid", "net"):
    try:
        space = os.open(f"/proc/1/ns/{name}", os.O_RDONLY)
    except OSError as refused:
        print("refused", refused, flush=True)
        continue
    own = os.readlink(f"/proc/self/ns/{name}") == os.readlink(f"/proc/1/ns/{name}")
    show(f"setns {name}", libc.setns(space, 0) == 0 and not own)
