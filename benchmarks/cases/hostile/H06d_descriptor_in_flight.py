# /// case
# id = "H06d"
# title = "a huge file in flight"
# tries = "writes 800 MB into files whose only descriptor waits unread in a unix socket"
# limits = { wall_s = 20, disk_mib = 64 }
# endings = ["disk-limit"]
# proof = "says ESCAPED once 800 MB are written and held for a second"
# watches = ["scratch"]
# unconfined = "not run: fills 800 MB of the disk"
# ///
import os
import socket
import time

near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
for number in range(40):
    name = f"part{number}"
    sink = os.open(name, os.O_CREAT | os.O_RDWR)
    os.unlink(name)
    for _ in range(5):
        os.write(sink, b"x" * (4 * 1024 * 1024))
    socket.send_fds(near, [b"x"], [sink])
    os.close(sink)
time.sleep(1)
print("ESCAPED 800 MB held in flight", flush=True)
