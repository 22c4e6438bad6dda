"""The system calls by which a program looks at files, and the filter that reports them.

Covered: everything that takes a path (open, stat, access, readlink, exec, extended attributes, ...;
also what changes times, mode or owner, because its error says whether the file is there), what
makes, links, moves and removes files, so that a program's own files are known, and what would lead
around this list: other roots and mounts, file handles, io_uring, system calls of another
architecture, and the network. Not covered, because it is not a look at a file: clocks, random numbers,
host name and user, shared memory of System V, datagrams that are sent with `sendmsg`. A descriptor
needs no look: its path was opened before.
"""

from __future__ import annotations

import platform
import struct
from dataclasses import dataclass
from enum import Enum


class Act(Enum):
    """What a system call does with the path it is given."""

    OPEN = "open"
    OPEN_HOW = "open with its flags in a structure"
    CREATE = "create"
    STATUS = "look at what is there"
    STATUS_FLAGS = "the same, of the link itself where a flag says so"
    LINK = "look at the link itself"
    EXECUTE = "execute"
    MAKE_FOLDER = "make a folder"
    MAKE = "make, where nothing is"
    LINKED = "give a file a second name"
    MOVE = "move"
    REMOVE = "remove"
    CONNECT = "connect a socket"
    BIND = "give a socket its name"
    BLIND = "what cannot be followed"


@dataclass(frozen=True, slots=True)
class Call:
    """One system call, and where its arguments are."""

    name: str
    x86_64: int | None
    aarch64: int | None
    act: Act
    path: int = 0
    """Position of the path, or of the address of a socket."""
    folder: int | None = None
    """Position of the descriptor of the folder that a relative path counts from; none: the
    current one.
    """
    flags: int | None = None
    """Position of the flags, or of the length of an address."""
    source: tuple[int | None, int] | None = None
    """Positions of folder and path of what is moved, or gets a second name."""
    why: str = ""
    """What makes the list incomplete after this call."""


OWN_ROOT = "it works in a file system of its own"
CALLS = (
    Call("open", 2, None, Act.OPEN, flags=1),
    Call(
        "openat",
        257,
        56,
        Act.OPEN,
        path=1,
        folder=0,
        flags=2,
    ),
    Call(
        "openat2",
        437,
        437,
        Act.OPEN_HOW,
        path=1,
        folder=0,
        flags=2,
    ),
    Call("creat", 85, None, Act.CREATE),
    Call("stat", 4, None, Act.STATUS),
    Call("lstat", 6, None, Act.LINK),
    Call(
        "newfstatat",
        262,
        79,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=3,
    ),
    Call(
        "statx",
        332,
        291,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=2,
    ),
    Call("access", 21, None, Act.STATUS),
    Call("faccessat", 269, 48, Act.STATUS, path=1, folder=0),
    Call(
        "faccessat2",
        439,
        439,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=3,
    ),
    Call("statfs", 137, 43, Act.STATUS),
    Call("chdir", 80, 49, Act.STATUS),
    Call("getxattr", 191, 8, Act.STATUS),
    Call("lgetxattr", 192, 9, Act.LINK),
    Call("listxattr", 194, 11, Act.STATUS),
    Call("llistxattr", 195, 12, Act.LINK),
    Call(
        "getxattrat",
        464,
        464,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=2,
    ),
    Call(
        "listxattrat",
        465,
        465,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=2,
    ),
    Call("setxattr", 188, 5, Act.STATUS),
    Call("lsetxattr", 189, 6, Act.LINK),
    Call(
        "setxattrat",
        463,
        463,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=2,
    ),
    Call("removexattr", 197, 14, Act.STATUS),
    Call("lremovexattr", 198, 15, Act.LINK),
    Call(
        "removexattrat",
        466,
        466,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=2,
    ),
    Call("truncate", 76, 45, Act.STATUS),
    Call("chmod", 90, None, Act.STATUS),
    Call("fchmodat", 268, 53, Act.STATUS, path=1, folder=0),
    Call(
        "fchmodat2",
        452,
        452,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=3,
    ),
    Call("chown", 92, None, Act.STATUS),
    Call("lchown", 94, None, Act.LINK),
    Call(
        "fchownat",
        260,
        54,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=4,
    ),
    Call("utime", 132, None, Act.STATUS),
    Call("utimes", 235, None, Act.STATUS),
    Call("futimesat", 261, None, Act.STATUS, path=1, folder=0),
    Call(
        "utimensat",
        280,
        88,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=3,
    ),
    Call("inotify_add_watch", 254, 27, Act.STATUS, path=1),
    Call("name_to_handle_at", 303, 264, Act.STATUS, path=1, folder=0),
    Call(
        "open_tree",
        428,
        428,
        Act.STATUS_FLAGS,
        path=1,
        folder=0,
        flags=2,
    ),
    Call("readlink", 89, None, Act.LINK),
    Call("readlinkat", 267, 78, Act.LINK, path=1, folder=0),
    Call("execve", 59, 221, Act.EXECUTE),
    Call("execveat", 322, 281, Act.EXECUTE, path=1, folder=0),
    Call("mkdir", 83, None, Act.MAKE_FOLDER),
    Call("mkdirat", 258, 34, Act.MAKE_FOLDER, path=1, folder=0),
    Call("mknod", 133, None, Act.MAKE),
    Call("mknodat", 259, 33, Act.MAKE, path=1, folder=0),
    Call("symlink", 88, None, Act.MAKE, path=1),
    Call("symlinkat", 266, 36, Act.MAKE, path=2, folder=1),
    Call(
        "link",
        86,
        None,
        Act.LINKED,
        path=1,
        source=(None, 0),
    ),
    Call(
        "linkat",
        265,
        37,
        Act.LINKED,
        path=3,
        folder=2,
        source=(0, 1),
    ),
    Call(
        "rename",
        82,
        None,
        Act.MOVE,
        path=1,
        source=(None, 0),
    ),
    Call(
        "renameat",
        264,
        38,
        Act.MOVE,
        path=3,
        folder=2,
        source=(0, 1),
    ),
    Call(
        "renameat2",
        316,
        276,
        Act.MOVE,
        path=3,
        folder=2,
        source=(0, 1),
    ),
    Call("unlink", 87, None, Act.REMOVE),
    Call("rmdir", 84, None, Act.REMOVE),
    Call("unlinkat", 263, 35, Act.REMOVE, path=1, folder=0),
    Call("connect", 42, 203, Act.CONNECT, path=1, flags=2),
    Call("sendto", 44, 206, Act.CONNECT, path=4, flags=5),
    Call("bind", 49, 200, Act.BIND, path=1, flags=2),
    Call("open_by_handle_at", 304, 265, Act.BLIND, why="it opens files by handles"),
    Call("io_uring_setup", 425, 425, Act.BLIND, why="it opens files through io_uring"),
    Call("chroot", 161, 51, Act.BLIND, why=OWN_ROOT),
    Call("pivot_root", 155, 41, Act.BLIND, why=OWN_ROOT),
    Call("mount", 165, 40, Act.BLIND, why=OWN_ROOT),
    Call("move_mount", 429, 429, Act.BLIND, why=OWN_ROOT),
    Call("fsmount", 432, 432, Act.BLIND, why=OWN_ROOT),
    Call("setns", 308, 268, Act.BLIND, why=OWN_ROOT),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What differs between processors."""

    architecture: int
    """AUDIT_ARCH_* of linux/audit.h."""
    seccomp: int
    """Number of the system call that installs the filter."""
    calls: dict[int, Call]

    def filter(self) -> bytes:
        """A program of classic BPF: asks about the calls above and about those of another
        architecture; every other call goes on at once.
        """
        numbers = sorted(number for number, call in self.calls.items() if call.name != "sendto")
        sendto = next(number for number, call in self.calls.items() if call.name == "sendto")
        steps: list[tuple[int, int, int, int]] = [
            (_LOAD, 0, 0, _ARCHITECTURE_AT),
            (_EQUAL, 0, len(numbers) + 6, self.architecture),
            (_LOAD, 0, 0, _NUMBER_AT),
            # Calls of the x32 kind have this bit; on other processors no number is so large.
            (_AT_LEAST, len(numbers) + 4, 0, _X32),
            (_EQUAL, 0, 2, sendto),
            # Sent on a connected socket there is no address: those are many, and say nothing new.
            (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * 4),
            (_EQUAL, len(numbers), len(numbers) + 1, 0),
        ]
        for position, number in enumerate(numbers):
            steps.append(
                (
                    _EQUAL,
                    len(numbers) - position,
                    0,
                    number,
                )
            )
        steps.append((_RETURN, 0, 0, _ALLOW))
        steps.append((_RETURN, 0, 0, _ASK))
        return b"".join(struct.pack("=HBBI", *step) for step in steps)


_LOAD = 0x20
_EQUAL = 0x15
_AT_LEAST = 0x35
_RETURN = 0x06
"""BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_JMP|BPF_JGE|BPF_K, BPF_RET|BPF_K."""
_NUMBER_AT = 0
_ARCHITECTURE_AT = 4
_ARGUMENTS_AT = 16
"""Where struct seccomp_data has them."""
_ALLOW, _ASK = 0x7FFF0000, 0x7FC00000
"""SECCOMP_RET_ALLOW, SECCOMP_RET_USER_NOTIF."""
_X32 = 0x40000000


def this_machine() -> Machine | None:
    """None where the numbers of the system calls are not known."""
    name = platform.machine()
    if name == "x86_64":
        return Machine(
            0xC000003E,
            317,
            {call.x86_64: call for call in CALLS if call.x86_64 is not None},
        )
    if name == "aarch64":
        return Machine(
            0xC00000B7,
            277,
            {call.aarch64: call for call in CALLS if call.aarch64 is not None},
        )
    return None
