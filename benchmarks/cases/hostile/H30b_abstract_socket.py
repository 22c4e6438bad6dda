# /// case
# id = "H30b"
# title = "abstract unix socket"
# tries = "talks to a service of the host through a socket that has no file, by stream and by datagram"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "the host's socket sees no caller"
# watches = ["abstract"]
# unconfined = "escapes"
# ///
import os
import socket

address = "\0" + os.environ["CANARY_ABSTRACT"]
with socket.socket(socket.AF_UNIX) as line:
    line.settimeout(2)
    try:
        line.connect(address)
        print("called", flush=True)
    except OSError as refused:
        print("refused", refused, flush=True)
