"""What a program in a box may see of the host, read-only, and its environment, built from nothing.

No variable of this process goes in, so no key, token, proxy or path of the user can. What a program
needs to find its way (PATH, HOME, caches, locale) is set to places inside the box; what the caller
adds goes over it.

Of the host it sees system programs and libraries, the interpreter and small files, read-only.
Everything else does not exist inside: no home folders, no /etc beyond the list, no /run, no other
user's files.
"""

import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import InputError
from reenact.sandbox.box import Command, Mount

USER = "box"
_VARIABLES = f"""
    HOME={{home}} USER={USER} LOGNAME={USER} SHELL=/bin/sh TMPDIR={{tmp}} LANG=C.UTF-8 TERM=dumb
    XDG_CACHE_HOME={{home}}/.cache XDG_CONFIG_HOME={{home}}/.config XDG_DATA_HOME={{home}}/.local/share
    MPLCONFIGDIR={{home}}/.cache/matplotlib MPLBACKEND=Agg HF_HOME={{home}}/.cache/huggingface
    TORCH_HOME={{home}}/.cache/torch TORCHINDUCTOR_CACHE_DIR={{home}}/.cache/torchinductor
    TRITON_CACHE_DIR={{home}}/.cache/triton KERAS_HOME={{home}}/.cache/keras
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
"""
"""The interpreter's own folders are read-only inside, and a forged cache must not be trusted
anywhere: no bytecode is written. What is printed is watched while it is printed: nothing of it is
held back.
"""


def passable(text: str) -> bool:
    """Whether a text can be handed to a program as a word or a variable."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def box_environment(
    home: str,
    tmp: str,
    added: Mapping[str, str],
) -> dict[str, str]:
    """The whole environment of a box whose home and temporary folder have these paths inside."""
    for name, value in added.items():
        if not name or "=" in name or not passable(name + value):
            raise InputError(
                f"A variable has a name without '=' and holds text without NUL. Received: {name!r}"
            )
    path = (
        f"{Path(sys.prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
    )
    stated = (pair.partition("=") for pair in _VARIABLES.split())
    found = {name: value.format(home=home, tmp=tmp) for name, _, value in stated}
    return {
        "PATH": path,
        **found,
        **added,
    }


WORK = "/box/work"
HOME = "/box/home"
TMP = "/tmp"  # noqa: S108 - paths inside the box
USER_ID = 1000
HOST_NAME = "box"

_SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
_ETC_FOLDERS = ("alternatives", "fonts", "pki/tls/certs", "ssl/certs")
_ETC_FILES = (
    "ld.so.cache",
    "localtime",
    "mime.types",
    "protocols",
    "services",
    "ssl/openssl.cnf",
    "timezone",
)
_LARGEST_ETC_FILE = 1 << 20
_PROCESSORS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
_RESERVED = (
    "/",
    "/proc",
    "/dev",
    "/sys",
    "/tmp",  # noqa: S108
    "/box",
    WORK,
    HOME,
    "/usr",
    "/etc",
)
# The address is set aside for documentation: a question sent there has no route, and so is noticed.
_RESOLVER = "nameserver 192.0.2.1\noptions attempts:1 timeout:1\n"


@dataclass(frozen=True, slots=True)
class View:
    """Read-only binds (source, target) and links (text, target), in the order in which they are
    made.
    """

    binds: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]


@functools.cache
def host_view() -> View:
    """The part of the host that every box sees. Looked up once a process."""
    binds = [("/usr", "/usr")]
    links: list[tuple[str, str]] = []
    for path in _SYSTEM:
        if os.path.islink(path):  # noqa: PTH114 - a name, not a file of ours
            links.append((os.readlink(path), path))  # noqa: PTH115
        elif os.path.isdir(path):  # noqa: PTH112
            binds.append((path, path))
    shown = (
        *_PROCESSORS,
        "/nix/store",
        *(f"/etc/{name}" for name in _ETC_FOLDERS),
    )
    binds += [(path, path) for path in shown if Path(path).is_dir()]
    binds += [(path, path) for path in interpreter_folders()]
    # The installer's settings next to an interpreter may hold the password of a private index.
    settings = [Path(folder) / "pip.conf" for folder in interpreter_folders()]
    binds += [(os.devnull, str(path)) for path in settings if path.exists()]
    return View(tuple(binds), tuple(links))


def interpreter_folders() -> tuple[str, ...]:
    """The folders the running interpreter needs: its virtual environment and the installation
    after it.
    """
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    hop = Path(sys.executable)
    for _ in range(16):
        if hop.parent.name == "bin":
            found.append(str(hop.parent.parent))
        if not hop.is_symlink():
            break
        hop = hop.parent / hop.readlink()
    found += [os.path.realpath(folder) for folder in found]
    return tuple(sorted({folder for folder in found if _may_show(Path(os.path.normpath(folder)))}))


def _may_show(path: Path) -> bool:
    """Never a folder that holds more than an interpreter: the root, a home or what homes lie in."""
    alone = path.is_dir() and not path.is_relative_to("/usr")
    return alone and path != Path("/") and not Path.home().is_relative_to(path)


@functools.cache
def etc_files(user_id: int = USER_ID) -> dict[str, bytes]:
    """The files of /etc: those made for the box, and copies of small ones that any program may
    read.
    """
    made = {
        "passwd": (
            f"root:x:0:0:root:/:/bin/false\n{USER}:x:{user_id}:{user_id}:{USER}:{HOME}:/bin/sh\n"
        ),
        "group": f"root:x:0:\n{USER}:x:{user_id}:\n",
        # The mapped form too: distributed training asks for its name, which is not a wish to reach a
        # network.
        "hosts": f"127.0.0.1 localhost {HOST_NAME}\n::1 localhost\n::ffff:127.0.0.1 localhost\n",
        "hostname": f"{HOST_NAME}\n",
        "resolv.conf": _RESOLVER,
        "nsswitch.conf": (
            "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"
        ),
    }
    found = {f"/etc/{name}": text.encode() for name, text in made.items()}
    for name in _ETC_FILES:
        path = Path("/etc") / name
        if path.is_file() and path.stat().st_size <= _LARGEST_ETC_FILE:
            found[str(path)] = path.read_bytes()
    return found


def checked_mounts(command: Command) -> tuple[Mount, ...]:
    """The command's own mounts; InputError for one that is not there or would hide the box
    itself.
    """
    for mount in command.mounts:
        target = os.path.normpath(mount.target)
        if (
            not mount.target.startswith("/")
            or ".." in mount.target.split("/")
            or target in _RESERVED
        ):
            raise InputError(
                f"A mount needs an absolute place inside the box that is not one of its own. "
                f"Received: target={mount.target!r}",
                next_step="Use a target such as '/data'.",
            )
        if not mount.source.exists():
            raise InputError(f"The source of a mount is not there. Received: source={mount.source}")
    return command.mounts
