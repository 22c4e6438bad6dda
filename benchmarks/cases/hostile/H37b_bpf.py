# /// case
# id = "H37b"
# title = "bpf"
# tries = "makes a map and loads a program in the kernel"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED when the kernel gives it a descriptor"
# watches = []
# unconfined = "not run: the machine's own kernel decides"
# ///
import ctypes
import os
import platform
import struct

number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
MAP_CREATE, PROG_LOAD, ARRAY, SOCKET_FILTER = 0, 5, 2, 1
code = ctypes.create_string_buffer(struct.pack("<BBhi", 0xB7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0))
licence = ctypes.create_string_buffer(b"GPL")
for name, what, attributes in (
    ("map", MAP_CREATE, struct.pack("<IIIII", ARRAY, 4, 4, 1, 0)),
    ("program", PROG_LOAD, struct.pack("<IIQQ", SOCKET_FILTER, 2, ctypes.addressof(code), ctypes.addressof(licence))),
):
    block = ctypes.create_string_buffer(attributes.ljust(144, b"\0"))
    got = libc.syscall(ctypes.c_long(number), ctypes.c_long(what), block, ctypes.c_long(144))
    print("ESCAPED bpf" if got >= 0 else "refused", name, got, os.strerror(ctypes.get_errno()), flush=True)
