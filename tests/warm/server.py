"""An interpreter that has imported torch and Keras, or reenact: each program runs in a fresh fork
of it.

A program pays seconds for these imports; a fork pays nothing. `tests/warm/python.py` is what the
tests start in place of an interpreter; it hands over its arguments, environment, folder and open
files. What the start of an interpreter does (`PYTHONPATH`, `sitecustomize`) is done here by hand;
the tests of that start itself use real interpreters.
"""

import array
import atexit
import contextlib
import ctypes
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

NOT_COMMANDS = {
    "__main__",
    "cases",
    "inject",
    "inside",
    "notebook",
    "pytest",
    "testing",
}


def main(place, parent):
    {"warm": _import_frameworks, "commands": _import_commands}[os.path.basename(place)]()
    # What is here now is shared with all forks for as long as nobody writes to it, and collecting
    # does.
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    clients = {}
    while _is_alive(parent):
        ready, _, _ = select.select([listener, *clients], [], [], 0.02 if clients else 0.5)
        for one in ready:
            if one is listener:
                client, _ = listener.accept()
                job = None
                # Whoever asked may be gone: that ends its own program alone.
                with contextlib.suppress(OSError):
                    job = _received(client)
                if job:
                    clients[client] = _begin(client, *job, listener, clients)
            else:
                _signalled(one, clients)
        _reap(clients)
    for child in clients.values():
        _kill(child, signal.SIGKILL)
    shutil.rmtree(os.path.dirname(place), ignore_errors=True)


def _import_frameworks():
    # Else the import of Keras starts CUDA where there is a card, and no fork could use it.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    import keras  # noqa: F401
    import torch
    import torch._dynamo

    del os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"]
    torch.set_num_threads(1)


def _import_commands():
    """What a command imports on its way; torch is not among it. From the tree of these tests, which
    may be a copy of the one that is installed.
    """
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src"))
    import pydantic_ai  # noqa: F401
    import scipy.stats  # noqa: F401

    import reenact

    for found in pkgutil.walk_packages(reenact.__path__, "reenact."):
        if NOT_COMMANDS.isdisjoint(found.name.split(".")):
            importlib.import_module(found.name)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    importlib.import_module("process_owners").watch_starts()
    del sys.path[0]


def _is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _begin(client, text, files, listener, clients):
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        listener.close()
        for other in (client, *clients):
            other.close()
        _run(json.loads(text), files)
    for number in files:
        os.close(number)
    return child


def _received(client):
    """A job and its open files; nothing when whoever asked was killed before it had sent all."""
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


def _signalled(client, clients):
    """A signal that the starter got, or its end: then the program ends too."""
    numbers = b""
    with contextlib.suppress(OSError):
        numbers = client.recv(16)
    for number in numbers or (signal.SIGKILL,):
        _kill(clients[client], number)
    if not numbers:
        os.waitpid(clients.pop(client), 0)
        client.close()


def _kill(child, number):
    for kill in (os.killpg, os.kill):
        try:
            kill(child, number)
        except ProcessLookupError:
            continue
        return


def _reap(clients):
    for client, child in list(clients.items()):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            del clients[client]
            with contextlib.suppress(OSError):
                client.sendall(json.dumps(os.waitstatus_to_exitcode(status)).encode())
            client.close()


def _run(job, files):
    for target, number in enumerate(files):
        os.dup2(number, target)
    os.closerange(3, 256)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, signal.SIG_IGN if number in job["ignored"] else usual)
    atexit._clear()
    os.environ.clear()
    os.environ.update(job["environment"])
    _show(job["environment"])
    os.chdir(job["folder"])
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    sys.stdin, sys.stdout, sys.stderr = (
        open(  # noqa: SIM115
            number,
            mode,
            buffering=1,
            closefd=False,
            encoding=encoding or None,
            errors=errors or None,
        )
        for number, mode, errors in (
            (0, "r", errors),
            (1, "w", errors),
            (2, "w", "backslashreplace"),
        )
    )
    code = 0
    try:
        _start()
        _execute(job["arguments"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if not isinstance(end.code, int | None):
            print(end.code, file=sys.stderr)
    except BaseException as error:  # noqa: BLE001 - what an interpreter does with it
        trail = error.__traceback__
        while trail.tb_next and trail.tb_frame.f_code.co_filename in (
            __file__,
            runpy.__file__,
            "<frozen runpy>",
        ):
            trail = trail.tb_next
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trail
        sys.excepthook(type(error), error, trail)
        code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF)


def _show(environment):
    """`/proc` shows the environment of the program: tests look there for what a command left
    running.
    """
    with open("/proc/self/stat", "rb") as file:
        start, end = (int(word) for word in file.read().rpartition(b")")[2].split()[47:49])
    text = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in environment.items())
    ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


def _start():
    """What the start of an interpreter does with the environment."""
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.path[:] = [*before, *(part for part in sys.path[1:] if part not in before)]
    sys.modules.pop("sitecustomize", None)
    if any(os.path.exists(os.path.join(part, "sitecustomize.py")) for part in before):
        import sitecustomize  # noqa: F401


def _execute(words):
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words = words[2:] if words[0] in ("-X", "-W") else words[1:]
    if words and words[0] == "-m":
        sys.argv = ["-m", *words[2:]]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words and words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        sys.path.insert(0, "")
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = list(words)
        sys.path.insert(0, os.path.dirname(os.path.realpath(words[0])))
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
