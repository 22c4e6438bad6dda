# /// case
# id = "H25"
# title = "secrets in its own environment"
# tries = "prints the secrets among its variables and arguments"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no planted secret may be in what it prints"
# watches = ["secrets"]
# unconfined = "escapes"
# ///
import os
import re

seen = repr(dict(os.environ)).encode()
for name in ("environ", "cmdline"):
    with open(f"/proc/self/{name}", "rb") as source:
        seen += source.read()
for secret in sorted(set(re.findall(rb"CANARYSECRET-[0-9a-f]+", seen))):
    print("found", secret.decode(), flush=True)
print(len(os.environ), "variables", flush=True)
