# /// case
# id = "H38a"
# title = "types into the user's terminal"
# tries = "pushes characters into the input of the supervisor's terminal"
# limits = { wall_s = 15 }
# endings = ["ok"]
# terminal = true
# proof = "the host looks whether anything waits in the terminal's input"
# watches = ["terminal"]
# unconfined = "not run: streams and sessions are the same for a plain subprocess"
# ///
import fcntl
import os

TIOCSTI = 0x5412
lines = [0, 1, 2, *range(3, 64)]
for place in ("/dev/tty", "/dev/console", "/dev/pts/0", "/dev/pts/1", os.environ.get("CANARY_TERMINAL", "")):
    try:
        lines.append(os.open(place, os.O_RDWR))
    except OSError:
        continue
for line in lines:
    try:
        for letter in b"canary\n":
            fcntl.ioctl(line, TIOCSTI, bytes([letter]))
        print("typed into", line, flush=True)
    except OSError:
        continue
