"""A program from elsewhere: it looks for keys, for the network and for somebody's files, then does its work."""

import os
import socket
from pathlib import Path


def attempt(what, action):
    try:
        print(f"{what:34} {action()}")
    except OSError as refused:
        print(f"{what:34} refused: {refused.strerror or refused}")


def call_out():
    socket.create_connection(("203.0.113.7", 443), timeout=3)
    return "connected"


attempt("keys in its environment", lambda: [n for n in os.environ if "KEY" in n or "TOKEN" in n] or "none")
attempt("a call to the internet", call_out)
attempt("anybody's ssh keys", lambda: [*Path("/").glob("root/.ssh/*"), *Path("/").glob("home/*/.ssh/*")] or "none")
attempt("writing to /usr", lambda: Path("/usr/planted").write_text("here"))
attempt("other processes", lambda: len([p for p in os.listdir("/proc") if p.isdigit()]))
print("2 + 2 =", 2 + 2)
