"""The filter in the program's process, and the thread here that is asked at each look at a file.

seccomp(2) with a listener: the kernel holds the call, gives us its number and arguments, and lets
it go on when we say so. The program gets what the call gives, unchanged. Its threads, its workers
and the programs it starts inherit the filter. A process without CAP_SYS_ADMIN must give up gaining
rights for it (no_new_privs): `sudo` and other programs with rights of their own do not work in a
watched program then.

Where the system has no such filter (not Linux, another processor, a second listener, a container
that forbids it) the program runs all the same, and the list says that nothing was seen.

A watched program ends with us (`watch.py`). A process that it leaves behind is answered as long as
we run; its looks fail with ENOSYS after that.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import socket
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from reenact.probe import injected
from reenact.probe.looks.calls import Act, Call, Machine, this_machine
from reenact.probe.looks.noted import Noted, full_path

UNSEEN = "this system does not show which files a program looks at (that needs seccomp of Linux)"
NOT_READ = "the arguments of its system calls could not be read"
OTHER_PROCESSOR = "it starts a program for another processor"
NETWORK = "it uses the network"
LEFT_S = 2.0
"""How long processes of an ended program are waited for."""
_FILTER_MODE = 1
_NEW_LISTENER = 1 << 3
_WAIT_KILLABLE = 1 << 5
"""SECCOMP_SET_MODE_FILTER and its flags; the second spares the program interrupted calls (Linux
5.19).
"""
_NO_NEW_PRIVILEGES = 38
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
"""SECCOMP_IOCTL_NOTIF_RECV and _SEND."""
_SET_FLAGS, _ON_ONE_CORE = 0x40082104, 1
"""SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (Linux 6.6): one waits for
the other.
"""
_GO_ON = 1
"""SECCOMP_USER_NOTIF_FLAG_CONTINUE."""
_REQUEST = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_HERE = 0xFFFFFF9C
"""AT_FDCWD, as the lower half of an argument."""
_NOT_FOLLOWED = 0x100
"""AT_SYMLINK_NOFOLLOW."""
_LOOKS = (Act.OPEN, Act.STATUS, Act.STATUS_FLAGS, Act.LINK)
"""Calls that say nothing new when they are made again."""
_REMEMBERED = 100_000
_PAGE = 4096
_LONGEST = 4096
"""Bytes of a path, with its end."""
_POINTER = (1 << 56) - 1
"""Without the tag that some processors keep in the highest byte."""
_SILENT_FAMILIES = (socket.AF_UNSPEC, 16, 38)
"""Of sockets: none, netlink and the kernel's ciphers."""


class _Piece(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Listener:
    """Opened before the program is started; `install` is called in its process, `close` when it
    has ended.
    """

    def __init__(self, noted: Noted) -> None:
        self.noted = noted
        self._machine = this_machine() if sys.platform.startswith("linux") else None
        if self._machine is None:
            noted.blind(UNSEEN)
        self._ours, self._theirs = socket.socketpair()
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._buffer = ctypes.create_string_buffer(_LONGEST)
        signs = injected.part("importing")
        self._lists, self._begins = str(signs.LISTS), str(signs.BEGINS)
        self._on_start: dict[int, list[str]] = {}
        """Of each thread, the folders that were listed since its program was started."""
        self._asked: set[tuple[str, int, str]] = set()
        self._names: set[str] = set()
        """Of sockets that the program itself made and that are not files."""
        self._importing: set[int] = set()
        """Threads in which the import system lists a folder next."""
        self.install = self._installer()
        self._thread = threading.Thread(
            target=self._serve,
            name="reenact-looks",
            daemon=True,
        )
        if self._machine is not None:
            self._thread.start()

    def _installer(self) -> Callable[[], None]:
        """What puts the filter into the process that calls it. All is ready before the fork: the
        child of a process with threads should do as little as it can.
        """
        machine = self._machine
        theirs = self._theirs
        if machine is None:
            return lambda: None
        steps = machine.filter()
        kept = ctypes.create_string_buffer(steps, len(steps))
        program = ctypes.create_string_buffer(
            struct.pack(
                "@HP",
                len(steps) // 8,
                ctypes.addressof(kept),
            )
        )
        syscall = self._libc.syscall
        prctl = self._libc.prctl
        tries = (
            (False, _WAIT_KILLABLE),
            (True, _WAIT_KILLABLE),
            (False, 0),
            (True, 0),
        )

        def install() -> None:
            assert kept
            for gives_up, flags in tries:
                if gives_up:
                    prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
                listener = syscall(machine.seccomp, _FILTER_MODE, _NEW_LISTENER | flags, program)
                if listener >= 0:
                    socket.send_fds(theirs, [b"1"], [listener])
                    os.close(listener)
                    return

        return install

    def started(self) -> None:
        """The program has its own end of the connection now, or was never started."""
        self._theirs.close()

    def close(self, folder: Path) -> None:
        """Leave the list in a folder, once the last process of the program has ended."""
        self._theirs.close()
        if self._machine is None:
            self._ours.close()
        else:
            self._thread.join(LEFT_S)
        self.noted.write(folder)

    def _serve(self) -> None:
        with self._ours:
            _, handles, _, _ = socket.recv_fds(
                self._ours,
                1,
                1,
                socket.MSG_CMSG_CLOEXEC,
            )
        if not handles or self._machine is None:
            self.noted.blind(UNSEEN)
            return
        listener = handles[0]
        try:
            self._answer_all(listener, self._machine)
        finally:
            os.close(listener)

    def _answer_all(self, listener: int, machine: Machine) -> None:
        from fcntl import ioctl

        with suppress(OSError):
            ioctl(listener, _SET_FLAGS, _ON_ONE_CORE)
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        while True:
            ((_, event),) = waiting.poll()
            if not event & select.POLLIN:
                # The last process with this filter is gone.
                return
            request = bytearray(_REQUEST.size)
            try:
                ioctl(listener, _RECEIVE, request)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EINTR):
                    # The process was killed while it waited.
                    continue
                self.noted.blind(NOT_READ)
                return
            identity, thread, _, number, architecture, _, *arguments = _REQUEST.unpack(request)
            try:
                self._note(machine, thread, number, architecture, arguments)
            except Exception as error:  # noqa: BLE001 - whatever it is, the program must go on
                self.noted.blind(f"{NOT_READ} ({type(error).__name__})")
            with suppress(OSError):
                ioctl(
                    listener,
                    _SEND,
                    _ANSWER.pack(identity, 0, 0, _GO_ON),
                )

    def _note(
        self,
        machine: Machine,
        thread: int,
        number: int,
        architecture: int,
        arguments: list[int],
    ) -> None:
        call = machine.calls.get(number) if architecture == machine.architecture else None
        if call is None:
            self.noted.blind(OTHER_PROCESSOR)
        elif call.act is Act.BLIND:
            self.noted.blind(call.why)
        elif call.act in (Act.CONNECT, Act.BIND):
            self._socket(call, thread, arguments)
        else:
            name = self._text(thread, arguments[call.path])
            if name == self._lists:
                self._importing.add(thread)
            elif name == self._begins:
                for folder in self._on_start.pop(thread, ()):
                    self.noted.was_for_import(folder)
            elif name and not self._is_repeated(call, thread, arguments, name):
                self._path(
                    call,
                    thread,
                    arguments,
                    self._full(name, thread, call.folder, arguments),
                )

    def _is_repeated(
        self,
        call: Call,
        thread: int,
        arguments: list[int],
        name: str,
    ) -> bool:
        """Whether the same was asked before: the import of torch alone asks for some paths 800
        times.
        """
        if call.act not in _LOOKS or not name.startswith("/") or thread in self._importing:
            return False
        key = (
            call.name,
            arguments[call.flags] if call.flags is not None else 0,
            name,
        )
        if key in self._asked:
            return True
        if len(self._asked) >= _REMEMBERED:
            self._asked.clear()
        self._asked.add(key)
        return False

    def _path(
        self,
        call: Call,
        thread: int,
        arguments: list[int],
        path: str,
    ) -> None:
        flags = arguments[call.flags] if call.flags is not None else 0
        act = call.act
        if act not in _LOOKS:
            # What was there may be something else now.
            self._asked.clear()
        if act in (Act.OPEN, Act.OPEN_HOW):
            self._opened(call, thread, path, flags)
        elif act is Act.LINK or (act is Act.STATUS_FLAGS and flags & _NOT_FOLLOWED):
            self.noted.link(path)
        elif act in (Act.STATUS, Act.STATUS_FLAGS):
            self.noted.status(path)
        elif act is Act.EXECUTE:
            self._on_start.pop(thread, None)
            self.noted.executed(path)
        elif call.source is not None:
            folder, position = call.source
            name = self._text(thread, arguments[position])
            source = self._full(name, thread, folder, arguments) if name else ""
            if source:
                change = self.noted.linked if act is Act.LINKED else self.noted.moved
                change(source, path)
        else:
            made = {
                Act.MAKE_FOLDER: self.noted.made_folder,
                Act.MAKE: self.noted.made_where_nothing_is,
            }
            removed = {Act.REMOVE: self.noted.removed}
            (made | removed).get(
                act,
                self.noted.made,
            )(path)

    def _opened(self, call: Call, thread: int, path: str, flags: int) -> None:
        if call.act is Act.OPEN_HOW:
            how = self._memory(thread, flags, 8)
            flags = struct.unpack("=Q", how)[0] if how else 0
        if thread in self._importing:
            self._importing.discard(thread)
            self.noted.listed_for_import(path)
        elif self.noted.opened(path, flags):
            self._on_start.setdefault(thread, []).append(path)

    def _full(
        self,
        name: str,
        thread: int,
        folder: int | None,
        arguments: list[int],
    ) -> str:
        if name.startswith("/"):
            return full_path(name, "/", thread)
        handle = arguments[folder] & 0xFFFFFFFF if folder is not None else _HERE
        place = "cwd" if handle == _HERE else f"fd/{handle}"
        base = os.readlink(f"/proc/{thread}/{place}")  # noqa: PTH115 - text, as the call has it
        return full_path(name, base, thread)

    def _socket(self, call: Call, thread: int, arguments: list[int]) -> None:
        """Where a socket leads: a path of this machine, or the network."""
        assert call.flags is not None
        length = min(arguments[call.flags] & 0xFFFFFFFF, 128)
        address = (
            self._memory(
                thread,
                arguments[call.path],
                length,
            )
            if length >= 2
            else b""
        )
        family = struct.unpack("=H", address[:2])[0] if address else 0
        if family == socket.AF_UNIX:
            name = os.fsdecode(address[2:].split(b"\0")[0])
            path = self._full(name, thread, None, arguments) if name else ""
            if path and call.act is Act.BIND:
                self.noted.made_where_nothing_is(path)
            elif path:
                self.noted.connected(path)
            elif len(address) > 2:
                self._socket_without_file(
                    call,
                    os.fsdecode(address[3:]),
                )
        elif family not in _SILENT_FAMILIES and not self._has_no_port(call, family, address):
            self.noted.blind(NETWORK)

    def _has_no_port(self, call: Call, family: int, address: bytes) -> bool:
        """Whether a socket is only tried out, as by the import of urllib3: no one else knows
        its port.
        """
        is_internet = family in (socket.AF_INET, socket.AF_INET6)
        return call.act is Act.BIND and is_internet and address[2:4] == bytes(2)

    def _socket_without_file(self, call: Call, name: str) -> None:
        """One of the names that only the kernel keeps."""
        if call.act is Act.BIND:
            self._names.add(name)
        elif name not in self._names:
            self.noted.talked_to(f"@{name}")

    def _text(self, thread: int, address: int) -> str:
        """The path that begins there; read page by page, because the next page may not exist."""
        address &= _POINTER
        text = b""
        while b"\0" not in text and len(text) < _LONGEST:
            length = min(_PAGE - (address + len(text)) % _PAGE, _LONGEST - len(text))
            piece = self._memory(
                thread,
                address + len(text),
                length,
            )
            if not piece:
                return ""
            text += piece
        return os.fsdecode(text.partition(b"\0")[0])

    def _memory(self, thread: int, address: int, length: int) -> bytes:
        """Empty where the program has no memory (its call will fail), or was killed."""
        here = _Piece(ctypes.addressof(self._buffer), length)
        there = _Piece(address & _POINTER, length)
        one = ctypes.c_ulong(1)
        none = ctypes.c_ulong(0)
        read = self._libc.process_vm_readv(
            thread,
            ctypes.byref(here),
            one,
            ctypes.byref(there),
            one,
            none,
        )
        if read <= 0:
            code = ctypes.get_errno()
            if code in (errno.EFAULT, errno.ESRCH):
                return b""
            raise OSError(code, os.strerror(code))
        return self._buffer.raw[:read]
