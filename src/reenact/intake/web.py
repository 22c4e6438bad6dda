"""Asks web APIs: `Web` one question; `Polite` seldom, again when a server is busy, never twice for
an answer.

The only file of this package that speaks HTTP.

Covered: no origin but the API's own is asked (a redirect elsewhere is not followed, so the token
goes nowhere else), https alone unless the address is this machine, size and time of the whole
answer, not only of its pieces. Not covered: whether the answer is true.
"""

import hashlib
import http.client
import os
import re
import secrets
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from reenact.errors import InputError, Unreachable
from reenact.llm.names import is_loopback
from reenact.version import __version__

_GITHUB = (
    ("Accept", "application/vnd.github+json"),
    ("X-GitHub-Api-Version", "2022-11-28"),
)
_MOVED = (301, 302, 307, 308)
_CHUNK = 1 << 16
LONGEST_WAIT_S = 60.0
"""However long a server asks us to wait."""
_BUSY = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered. Header names are in small letters."""

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
    headers: tuple[tuple[str, str], ...] = _GITHUB
    """Sent with every question."""
    instead: str = "Check the network, or save the report as a file and name that."
    """What a user can do when no one answers."""

    def get(self, path: str, token: str = "") -> Answer:
        """The answer to one question, whatever its status. Unreachable when none came."""
        address = self.api.rstrip("/") + path
        origin = _origin(address)
        if not origin.startswith("https://") and not (
            origin.startswith("http://") and is_loopback(address)
        ):
            raise InputError(f"An API is asked over https only. Received: api={origin or address}")
        until = time.monotonic() + self.wall_s
        for _ in range(self.most_redirects + 1):
            answer = self._ask(address, token, until)
            if answer.status not in _MOVED:
                return answer
            location = answer.headers.get("location", "")
            if _origin(address, location) != origin:
                raise Unreachable(f"{origin} sends us on to another server, which is not followed.")
            address = urljoin(address, location)
        raise Unreachable(f"{origin} sends us on and on: more than {self.most_redirects} times.")

    def _ask(self, address: str, token: str, until: float) -> Answer:
        headers = {
            **dict(self.headers),
            "User-Agent": f"reenact/{__version__}",
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        asked = urllib.request.Request(address, headers=headers)  # noqa: S310 - checked above
        try:
            with _opener(address).open(
                asked, timeout=max(0.1, until - time.monotonic())
            ) as response:
                named = {name.lower(): value for name, value in response.headers.items()}
                return Answer(response.status, named, self._read(response, until))
        except (OSError, http.client.HTTPException) as error:
            why = error.reason if isinstance(error, urllib.error.URLError) else error
            host = urlsplit(address).hostname
            raise Unreachable(
                f"{host} cannot be reached: {why}.", next_step=self.instead
            ) from error

    def _read(self, response: Any, until: float) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := response.read1(_CHUNK):
            pieces.append(piece)
            size += len(piece)
            if size > self.most_bytes:
                raise Unreachable(
                    f"The answer has more than {self.most_bytes} bytes and was not read."
                )
            if time.monotonic() > until:
                raise Unreachable(f"The answer did not end within {self.wall_s:g} s.")
        return b"".join(pieces)


def _opener(address: str) -> urllib.request.OpenerDirector:
    """Neither redirects nor files nor other protocols: what is not added here cannot happen."""
    opener = urllib.request.OpenerDirector()
    proxies = [] if is_loopback(address) else [urllib.request.ProxyHandler()]
    for handler in (
        *proxies,
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _origin(address: str, location: str = "") -> str:
    """Scheme, host and port of an address, or of where it sends us; empty for what is not
    address.
    """
    with suppress(ValueError):
        parts = urlsplit(urljoin(address, location))
        return f"{parts.scheme}://{parts.netloc}"
    return ""


@dataclass
class Polite:
    """Asks for one server."""

    folder: Path | None = None
    """Where answers are kept; none keeps nothing."""
    offline: bool = False
    """Only what is kept is known."""
    every_s: float = 3.0
    """Least time between two questions: what arXiv asks of programs."""
    tries: int = 4
    first_wait_s: float = 2.0
    """Before the second try; doubled before each further one."""
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _last: float | None = field(default=None, repr=False)

    def get(self, web: Web, path: str) -> Answer:
        """The answer, from the folder or the server. Unreachable when the server stays silent."""
        name = hashlib.sha256(f"{web.api}{path}".encode()).hexdigest()[:40]
        kept = self.folder / name if self.folder else None
        if kept is not None and kept.is_file():
            return Answer(200, {}, kept.read_bytes())
        if self.offline:
            why = f"{web.api}{path} was never asked for before, and the network is switched off."
            raise Unreachable(why, next_step="Run it once with the network, or name a file.")
        answer = self._asked(web, path)
        if answer.status == 200 and kept is not None:
            # Whole or not there.
            kept.parent.mkdir(parents=True, exist_ok=True)
            partial = kept.with_name(f".{name}-{secrets.token_hex(4)}")
            partial.write_bytes(answer.body)
            os.replace(partial, kept)  # noqa: PTH105 - replaces what another process wrote meanwhile
        return answer

    def _asked(self, web: Web, path: str) -> Answer:
        wait = self.first_wait_s
        for attempt in range(1, self.tries + 1):
            now = self.clock()
            if self._last is not None and now - self._last < self.every_s:
                self.sleep(self.every_s - (now - self._last))
            self._last = self.clock()
            last = attempt == self.tries
            after = ""
            try:
                answer = web.get(path)
            except Unreachable as silence:
                # A name that leads nowhere: mostly there is no network, and waiting brings none.
                if last or isinstance(getattr(silence.__cause__, "reason", None), socket.gaierror):
                    raise
            else:
                if answer.status not in _BUSY or last:
                    return answer
                after = answer.headers.get("retry-after", "")
            asked = 0.0
            if re.fullmatch(r"\d{1,6}", after):
                asked = float(after)
            self.sleep(min(asked or wait, LONGEST_WAIT_S))
            wait *= 2
        raise Unreachable(f"{web.api} was not asked: tries={self.tries}.")
