"""Asks one web API. The only file of this room that speaks HTTP.

Covered: no origin but the API's own is asked (a redirect elsewhere is not followed, so the token goes
nowhere else), https alone unless the address is this machine, size and time of the whole answer, not only of
its pieces. Not covered: whether what the server says is true.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urljoin, urlsplit

from reenact.errors import InputError, Unreachable
from reenact.version import __version__

_MOVED = (301, 302, 307, 308)
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said. Header names are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Web:
    """One API at one origin."""

    api: str = "https://api.github.com"
    """Where the API begins, without a slash at the end."""
    wall_s: float = 30.0
    """How long one answer may take, from the first byte asked to the last one read."""
    most_bytes: int = 8 * 1024 * 1024
    """The largest answer that is read."""
    most_redirects: int = 3
    """How often an answer may send us on, within the same origin."""
    headers: tuple[tuple[str, str], ...] = (
        ("Accept", "application/vnd.github+json"),
        ("X-GitHub-Api-Version", "2022-11-28"),
    )
    """What is said with every question."""
    instead: str = "Check the network, or save the report as a file and name that."
    """What a user can do when nobody answers."""

    def get(self, path: str, token: str = "") -> Answer:
        """The answer to one question, whatever its status. Unreachable when none came."""
        address = self.api.rstrip("/") + path
        origin = _checked_origin(address)
        until = time.monotonic() + self.wall_s
        for _ in range(self.most_redirects + 1):
            answer = self._ask(address, token, until)
            if answer.status not in _MOVED:
                return answer
            address = _moved(address, answer.headers.get("location", ""))
            if _origin(address) != origin:
                raise Unreachable(f"{origin} sends us on to another server, which is not followed.")
        raise Unreachable(f"{origin} sends us on and on: more than {self.most_redirects} times.")

    def _ask(self, address: str, token: str, until: float) -> Answer:
        headers = {
            **dict(self.headers),
            "User-Agent": f"reenact/{__version__}",
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        asked = urllib.request.Request(address, headers=headers)  # noqa: S310 - checked above
        try:
            with _opener(address).open(asked, timeout=max(0.1, until - time.monotonic())) as said:
                named = {name.lower(): value for name, value in said.headers.items()}
                return Answer(said.status, named, self._read(said, until))
        except urllib.error.URLError as error:
            raise self._unreachable(address, error.reason) from error
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(address, error) from error

    def _unreachable(self, address: str, why: object) -> Unreachable:
        host = urlsplit(address).hostname
        return Unreachable(f"{host} cannot be reached: {why}.", next_step=self.instead)

    def _read(self, said: Any, until: float) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := said.read1(_CHUNK):
            pieces.append(piece)
            size += len(piece)
            if size > self.most_bytes:
                raise Unreachable(f"The answer has more than {self.most_bytes} bytes and was not read.")
            if time.monotonic() > until:
                raise Unreachable(f"The answer did not end within {self.wall_s:g} s.")
        return b"".join(pieces)


def _opener(address: str) -> urllib.request.OpenerDirector:
    """Neither redirects nor files nor other protocols: what is not added here cannot happen."""
    opener = urllib.request.OpenerDirector()
    if not _is_this_machine(address):
        opener.add_handler(urllib.request.ProxyHandler())
    opener.add_handler(urllib.request.HTTPHandler())
    opener.add_handler(urllib.request.HTTPSHandler())
    return opener


def _moved(address: str, location: str) -> str:
    """Where an answer sends us; nowhere when that is no address."""
    try:
        return urljoin(address, location)
    except ValueError:
        return ""


def _origin(address: str) -> str:
    """Scheme, host and port; empty for what is no address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}"


def _checked_origin(address: str) -> str:
    origin = _origin(address)
    if origin.startswith("https://") or (origin.startswith("http://") and _is_this_machine(address)):
        return origin
    raise InputError(f"An API is asked over https only. Received: api={origin or address}")


def _is_this_machine(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
