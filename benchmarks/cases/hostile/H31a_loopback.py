# /// case
# id = "H31a"
# title = "loopback services of the host"
# tries = "talks to a service on 127.0.0.1 of the host by TCP and UDP, IPv4 and mapped IPv6"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "the host's listener sees no caller"
# watches = ["tcp", "udp"]
# unconfined = "escapes"
# ///
import os
import socket

port = int(os.environ["CANARY_PORT"])
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::ffff:127.0.0.1")):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(family, kind) as line:
                line.settimeout(2)
                line.connect((address, port))
                line.send(b"canary")
                print("called", address, kind, flush=True)
        except OSError as refused:
            print("refused", address, kind, refused, flush=True)
