"""Hands a program over to `server.py` and ends as it ends."""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import sys
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(place: str, arguments: list[str]) -> NoReturn:
    server = socket.socket(socket.AF_UNIX)
    server.connect(place)
    job = {
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
    }
    text = (json.dumps(job) + "\n").encode()
    files = array.array("i", [0, 1, 2])
    sent = server.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    server.sendall(text[sent:])
    for number in SIGNALS:
        signal.signal(number, lambda number, _: server.sendall(bytes([number])))
    answer = server.recv(64)
    _end(json.loads(answer) if answer else 1)


def _end(code: int) -> NoReturn:
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
