# /// case
# id = "H31d"
# title = "proxy variables"
# tries = "leaves through the proxy that the user's variables name, with the password in its address"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no planted secret may be in what it prints; the host's listener sees no caller"
# watches = ["secrets", "tcp"]
# unconfined = "escapes"
# ///
import os
import re
import socket

for name, value in os.environ.items():
    if not name.lower().endswith("_proxy"):
        continue
    for secret in re.findall(r"CANARYSECRET-[0-9a-f]+", value):
        print("found", secret, flush=True)
    found = re.search(r"@([\d.]+):(\d+)", value)
    if found is None:
        continue
    try:
        with socket.create_connection((found[1], int(found[2])), timeout=2) as line:
            line.send(b"CONNECT example.com:443 HTTP/1.1\r\n\r\n")
            print("called the proxy", flush=True)
    except OSError as refused:
        print("refused", refused, flush=True)
