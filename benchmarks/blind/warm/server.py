"""`python server.py SOCKET MODULE...`: import modules once; each program runs in a fork.

What the start of an interpreter does (`PYTHONPATH`, `sitecustomize`) is done here by hand. It ends
when its own stdin does, and ends what it has started.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import shutil
import signal
import socket
import sys
from typing import Any, NoReturn

sys.path[0] = os.path.dirname(os.path.abspath(__file__))
import steady  # type: ignore[import-not-found] # noqa: E402

NOT_IMPORTED = {"__main__", "cases", "inject", "inside", "notebook", "pytest", "testing"}
OURS = "reenact"


Clients = dict[socket.socket, int]
"""Whoever waits for the end of a fork, and the fork."""


def main(place: str, modules: list[str]) -> None:
    # Whoever ends a group of processes means others: it ends with its stdin.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if OURS not in modules:
        steady.take_clock()
    for name in modules:
        with contextlib.suppress(ImportError):
            _import(name)
    # Shared with all forks for as long as nobody writes to it, and collecting does.
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    # Whoever waits for it may be gone: its end of our stdin then says so.
    with contextlib.suppress(OSError):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
    clients: Clients = {}
    while True:
        pause = 0.02 if clients else None
        waiting: list[Any] = [0, listener, *clients]
        ready, _, _ = select.select(waiting, [], [], pause)
        if 0 in ready:
            break
        for one in ready:
            if one is listener:
                _accept(listener, clients)
            else:
                _signalled(one, clients)
        _reap(clients)
    for child in clients.values():
        _kill(child, signal.SIGKILL)
    shutil.rmtree(os.path.dirname(place), ignore_errors=True)


def _import(name: str) -> None:
    module = importlib.import_module(name)
    if name == "torch":
        importlib.import_module("torch._dynamo")
        module.set_num_threads(1)
    elif name == "sklearn":
        importlib.import_module("sklearn.preprocessing")
        importlib.import_module("sklearn.model_selection")
        importlib.import_module("sklearn.datasets")
    elif name == OURS:
        for found in pkgutil.walk_packages(module.__path__, "reenact."):
            if NOT_IMPORTED.isdisjoint(found.name.split(".")):
                importlib.import_module(found.name)
        importlib.import_module("scipy.stats")


def _accept(listener: socket.socket, clients: Clients) -> None:
    client, _ = listener.accept()
    # Whoever asked may be gone: that ends its own program alone.
    with contextlib.suppress(OSError):
        received = _received(client)
        if received is None:
            return
        text, files = received
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            listener.close()
            for other in (client, *clients):
                other.close()
            _run(json.loads(text), files)
        clients[client] = child
        for number in files:
            os.close(number)


def _received(client: socket.socket) -> tuple[bytes, list[int]] | None:
    files, text = array.array("i"), b""
    while not text.endswith(b"\n"):
        part, ancillary, _, _ = client.recvmsg(1 << 20, socket.CMSG_SPACE(3 * files.itemsize))
        for _, _, data in ancillary:
            files.frombytes(data[: 3 * files.itemsize])
        if not part:
            client.close()
            for number in files:
                os.close(number)
            return None
        text += part
    return text, list(files)


def _signalled(client: socket.socket, clients: Clients) -> None:
    """A signal that the starter got, or its end: then the program ends too."""
    numbers = b""
    with contextlib.suppress(OSError):
        numbers = client.recv(16)
    for number in numbers or (signal.SIGKILL,):
        _kill(clients[client], number)
    if not numbers:
        os.waitpid(clients.pop(client), 0)
        client.close()


def _kill(child: int, number: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(child, number)
        except ProcessLookupError:
            continue
        return


def _reap(clients: Clients) -> None:
    for client, child in list(clients.items()):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            del clients[client]
            with contextlib.suppress(OSError):
                client.sendall(json.dumps(os.waitstatus_to_exitcode(status)).encode())
            client.close()


def _run(job: dict[str, Any], files: list[int]) -> NoReturn:
    for target, number in enumerate(files):
        os.dup2(number, target)
    os.closerange(3, 256)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, usual)
    atexit._clear()
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    noted = steady.begin(job["arguments"])
    end = "exit 0"
    sys.stdin, sys.stdout, sys.stderr = _streams()
    code = 0
    try:
        _start()
        _execute(job["arguments"])
    except SystemExit as exiting:
        status = exiting.code
        code = status if isinstance(status, int) else int(status is not None)
        end = f"exit {code}"
        if not isinstance(status, int | None):
            sys.stderr.write(f"{status}\n")
    except BaseException as error:  # noqa: BLE001 - what an interpreter does with it
        end = steady.kind_of(error)
        _shown(error)
        code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    if noted is not None:
        steady.write({**noted, "end": end})
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF)


def _streams() -> list[Any]:
    streams: list[Any] = []
    for number, mode, errors in ((0, "r", None), (1, "w", None), (2, "w", "backslashreplace")):
        stream = open(number, mode, buffering=1, closefd=False, errors=errors)  # noqa: SIM115
        streams.append(stream)
    return streams


def _shown(error: BaseException) -> None:
    """What an interpreter does with an exception that nobody caught."""
    ours = (__file__, runpy.__file__, "<frozen runpy>")
    trail = error.__traceback__
    while trail and trail.tb_next and trail.tb_frame.f_code.co_filename in ours:
        trail = trail.tb_next
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trail
    sys.excepthook(type(error), error, trail)


def _start() -> None:
    """What the start of an interpreter does with the environment."""
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.path[:] = [*before, *(part for part in sys.path[1:] if part not in before)]
    sys.modules.pop("sitecustomize", None)
    if any(os.path.exists(os.path.join(part, "sitecustomize.py")) for part in before):
        import sitecustomize  # noqa: F401


def _execute(words: list[str]) -> None:
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words = words[2:] if words[0] in ("-X", "-W") else words[1:]
    if words and words[0] == "-m":
        sys.argv = ["-m", *words[2:]]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words and words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        sys.path.insert(0, "")
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    else:
        sys.argv = list(words)
        sys.path.insert(0, os.path.dirname(os.path.realpath(words[0])))
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
