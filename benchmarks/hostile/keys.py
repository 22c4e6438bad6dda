"""A key in the kernel's user keyring, to see whether a program can read it or leave one of its
own.
"""

from __future__ import annotations

import ctypes
import platform

_NUMBERS = {"x86_64": (248, 250), "aarch64": (217, 219)}
_USER_KEYRING, _USER_SESSION = -4, -5
_UNLINK, _SEARCH = 9, 10


class Keyring:
    """The canary key of one judgement. Where the kernel has no keyrings for us, nothing is
    planted.
    """

    def __init__(self, nonce: str, secret: str) -> None:
        self._left = f"canary-left-{nonce}".encode()
        self._kept = f"canary-kept-{nonce}".encode()
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._add, self._control = _NUMBERS.get(platform.machine(), (-1, -1))
        if self._add < 0:
            return
        value = secret.encode()
        self._call(
            self._add,
            b"user",
            self._kept,
            value,
            ctypes.c_size_t(len(value)),
            _USER_KEYRING,
        )

    def found(self) -> list[str]:
        """Whether the program's key is there, in words."""
        rings = [
            ring for ring in (_USER_KEYRING, _USER_SESSION) if self._search(ring, self._left) > 0
        ]
        return ["a key was left in the kernel's keyring"] if rings else []

    def close(self) -> None:
        """Remove both keys."""
        for ring in (_USER_KEYRING, _USER_SESSION):
            for name in (self._left, self._kept):
                key = self._search(ring, name)
                if key > 0:
                    self._call(self._control, _UNLINK, key, ring)

    def _search(self, ring: int, name: bytes) -> int:
        return (
            -1 if self._control < 0 else self._call(self._control, _SEARCH, ring, b"user", name, 0)
        )

    def _call(self, number: int, *arguments: int | bytes | ctypes.c_size_t) -> int:
        wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
        return int(self._libc.syscall(ctypes.c_long(number), *wide))
