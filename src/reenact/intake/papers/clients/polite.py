"""Questions to a public server: seldom enough, repeated when it is busy, never twice for the same answer."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reenact.errors import Unreachable
from reenact.intake.web import Answer, Web

LONGEST_WAIT_S = 60.0
"""However long a server asks us to wait."""
_BUSY = (408, 425, 429, 500, 502, 503, 504)


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
        kept = self._kept(web.api + path)
        if kept is not None and kept.is_file():
            return Answer(200, {}, kept.read_bytes())
        if self.offline:
            raise Unreachable(
                f"{web.api}{path} was never asked for before, and the network is switched off.",
                next_step="Run it once with the network, or name a file.",
            )
        answer = self._asked(web, path)
        if answer.status == 200 and kept is not None:
            _write(kept, answer.body)
        return answer

    def _asked(self, web: Web, path: str) -> Answer:
        wait = self.first_wait_s
        for attempt in range(1, self.tries + 1):
            self._pace()
            answer, silence = _once(web, path)
            last = attempt == self.tries
            if answer is not None and (answer.status not in _BUSY or last):
                return answer
            if silence is not None and (last or _unknown_host(silence)):
                raise silence
            self.sleep(min(_told(answer) or wait, LONGEST_WAIT_S))
            wait *= 2
        raise Unreachable(f"{web.api} was not asked: tries={self.tries}.")

    def _pace(self) -> None:
        now = self.clock()
        if self._last is not None and now - self._last < self.every_s:
            self.sleep(self.every_s - (now - self._last))
        self._last = self.clock()

    def _kept(self, address: str) -> Path | None:
        return self.folder / hashlib.sha256(address.encode()).hexdigest()[:40] if self.folder else None


def _once(web: Web, path: str) -> tuple[Answer | None, Unreachable | None]:
    try:
        return web.get(path), None
    except Unreachable as error:
        return None, error


def _unknown_host(silence: Unreachable) -> bool:
    """Whether the name led nowhere: mostly there is no network, and waiting brings none."""
    return isinstance(getattr(silence.__cause__, "reason", None), socket.gaierror)


def _told(answer: Answer | None) -> float:
    """How long the server asks us to wait, in seconds; 0 when it does not say."""
    after = answer.headers.get("retry-after", "") if answer else ""
    return float(after) if re.fullmatch(r"\d{1,6}", after) else 0.0


def _write(place: Path, body: bytes) -> None:
    """Whole or not there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    partial.write_bytes(body)
    os.replace(partial, place)  # noqa: PTH105 - replaces what another process wrote meanwhile
