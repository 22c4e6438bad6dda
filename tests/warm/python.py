"""Hands a program over to `tests/warm/server.py`, which the first call starts, and ends as it
ends.
"""

import array
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time


def main(place, parent, arguments):
    server = _connected(place, parent)
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ignored = [number for number in signals if signal.getsignal(number) == signal.SIG_IGN]
    job = {
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "ignored": ignored,
    }
    numbers = array.array("i", [0, 1, 2])
    text = (json.dumps(job) + "\n").encode()
    sent = server.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    server.sendall(text[sent:])
    for number in signals:
        if number in ignored:
            continue
        signal.signal(number, lambda number, _: server.sendall(bytes([number])))
    answer = server.recv(64)
    code = json.loads(answer) if answer else 1
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (
            signal.SIGKILL,
            signal.SIGSTOP,
        ) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


def _connected(place, parent):
    server = socket.socket(socket.AF_UNIX)
    with open(f"{place}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(place):
            _start(place, parent)
        try:
            server.connect(place)
        except ConnectionRefusedError:
            # The server was killed: what is left of it is a name.
            os.unlink(place)
            _start(place, parent)
            server.connect(place)
    return server


def _start(place, parent):
    # What the first program was given is not for the others.
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
    }
    environment |= {
        "KERAS_BACKEND": "torch",
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
    }
    environment["WARM_SPACE"] = 65536 * "-"  # where a program's own environment is shown
    program = os.path.join(os.path.dirname(__file__), "server.py")
    nothing = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    server = subprocess.Popen(
        [sys.executable, program, place, parent],
        env=environment,
        start_new_session=True,
        **nothing,
    )
    while not os.path.exists(place):
        if server.poll() is not None:
            sys.exit("the warm interpreter did not start")
        time.sleep(0.05)
    time.sleep(0.05)


main(sys.argv[1], sys.argv[2], sys.argv[3:])
