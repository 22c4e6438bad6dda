# /// case
# id = "H28"
# title = "inherited descriptors"
# tries = "reads, writes and walks through every descriptor the supervisor left open"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no planted secret may be in what it prints; the files behind the descriptors are unchanged"
# watches = ["secrets", "outside"]
# unconfined = "not run: closing descriptors is the default of a subprocess too"
# ///
import os
import re

seen = b""
for number in range(3, 1024):
    for act in (
        lambda: os.pread(number, 1 << 16, 0),
        lambda: str(os.write(number, b"overwritten")).encode(),
        lambda: os.read(os.open("secret.txt", os.O_RDONLY, dir_fd=number), 1 << 16),
        lambda: os.close(os.open("canary-planted", os.O_CREAT | os.O_WRONLY, dir_fd=number)) or b"",
    ):
        try:
            seen += act()
        except OSError:
            continue
for secret in sorted(set(re.findall(rb"CANARYSECRET-[0-9a-f]+", seen))):
    print("found", secret.decode(), flush=True)
