# /// case
# id = "H38b"
# title = "terminal escapes"
# tries = "sets the clipboard, the title and the screen of whoever reads its output"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "the kept output is clean text, with no control character but newline and tab"
# watches = ["output"]
# unconfined = "not run: nothing to show, the tiers share one reader of output"
# ///
import os

os.write(1, b"before\n")
os.write(1, b"\x1b]52;c;Y2FuYXJ5\x07\x1b]0;title\x07\x1b[2J\x1b[H\x1b[8mhidden\x1b[0m\n")
os.write(1, b"\x1bP+q544e\x1b\\\x1b[6n\x1b[?1049h\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\\n")
os.write(1, "\x9b31mc1 control\x9d0;title\x9c\n".encode() + b"\x9b2J raw c1\n")
os.write(1, b"overwritten\rby this\x08\x08\x08\x7f\x00\n")
os.write(2, b"\x1b[31mred\x1b")
os.write(2, b"[0m split\nafter\n")
