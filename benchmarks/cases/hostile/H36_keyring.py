# /// case
# id = "H36"
# title = "kernel keyrings"
# tries = "reads a key of the user and leaves one behind that outlives the run"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no planted secret may be in what it prints; the host looks for the key by its name"
# watches = ["keyring", "secrets"]
# unconfined = "not run: depends on the settings of the machine"
# ///
import ctypes
import os
import platform

ADD, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
USER_KEYRING, USER_SESSION, SEARCH, READ = -4, -5, 10, 11
libc = ctypes.CDLL(None, use_errno=True)
nonce = os.environ["CANARY_NONCE"].encode()


def keyctl(what, *arguments):
    return libc.syscall(ctypes.c_long(KEYCTL), ctypes.c_long(what), *arguments)


for ring in (USER_KEYRING, USER_SESSION):
    made = libc.syscall(ctypes.c_long(ADD), b"user", b"canary-left-" + nonce, b"left", ctypes.c_size_t(4), ctypes.c_long(ring))
    print("added" if made > 0 else "refused", os.strerror(ctypes.get_errno()), flush=True)
    found = keyctl(SEARCH, ctypes.c_long(ring), b"user", b"canary-kept-" + nonce, ctypes.c_long(0))
    if found <= 0:
        continue
    buffer = ctypes.create_string_buffer(256)
    size = keyctl(READ, ctypes.c_long(found), buffer, ctypes.c_size_t(256))
    print("found", buffer.raw[: max(size, 0)].decode(), flush=True)
