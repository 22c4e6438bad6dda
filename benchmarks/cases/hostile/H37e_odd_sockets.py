# /// case
# id = "H37e"
# title = "sockets of rare families"
# tries = "opens sockets that reach the hypervisor, the kernel's crypto, raw frames and rare protocols"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "says ESCAPED for every family that opens"
# watches = []
# unconfined = "not run: the machine's own kernel decides"
# ///
import socket

FAMILIES = {"AF_VSOCK": 40, "AF_ALG": 38, "AF_PACKET": 17, "AF_BLUETOOTH": 31, "AF_CAN": 29, "AF_TIPC": 30, "AF_RDS": 21, "AF_XDP": 44,
            "AF_KEY": 15, "AF_NFC": 39, "AF_QIPCRTR": 42, "AF_SMC": 43}
for name, family in FAMILIES.items():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind, 0).close()
            print("ESCAPED", name, kind, flush=True)
        except OSError as refused:
            print("refused", name, refused, flush=True)
