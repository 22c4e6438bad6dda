# /// case
# id = "H31b"
# title = "egress and metadata service"
# tries = "reaches an address on the internet and the cloud's metadata service by TCP, UDP and raw sockets"
# limits = { wall_s = 20 }
# endings = ["ok"]
# proof = "says ESCAPED when a connection stands or a datagram leaves"
# watches = []
# unconfined = "not run: would use the network"
# ///
import socket

for address in (("1.1.1.1", 443), ("1.1.1.1", 53), ("169.254.169.254", 80), ("fd00:ec2::254", 80)):
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(family, kind) as line:
                line.settimeout(1)
                line.connect(address)
                line.send(b"canary")
                print("ESCAPED to", address, kind, flush=True)
        except OSError as refused:
            print("refused", address, refused, flush=True)
try:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as line:
        line.sendto(b"\x08\x00\xf7\xff\x00\x00\x00\x00", ("1.1.1.1", 0))
        print("ESCAPED by a raw socket", flush=True)
except OSError as refused:
    print("refused", refused, flush=True)
