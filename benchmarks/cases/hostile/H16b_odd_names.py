# /// case
# id = "H16b"
# title = "odd names"
# tries = "leaves names with newline, ESC, quotes, leading dashes, broken UTF-8 and 255 bytes"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "nothing of it may be left on the host; the kept output is clean text"
# watches = ["scratch", "output"]
# unconfined = "not run: leaves a tree that is hard to remove"
# ///
import os

for name in (b"a\nb", b"\x1b]52;c;AAAA\x07", b"-rf", b"--help", b"'; true #", b"\xff\xfe", b"x" * 255, b" ", b"\\"):
    os.mkdir(name)
    os.close(os.open(name + b"/" + name, os.O_CREAT | os.O_WRONLY))
    os.symlink(b"../" + name, name + b"/link")
os.write(1, b"\n".join(os.listdir(b".")) + b"\n")
