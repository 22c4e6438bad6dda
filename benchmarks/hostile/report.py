"""What the judge tells the supervisor of a hostile program and hears from it: one JSON text
each.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, on which tier, and where the canaries are."""

    case: str
    """The path of the program."""
    tier: str
    root: str
    environment: dict[str, str]
    """Variables for the program."""
    secrets: list[str]
    """What must not come out."""

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Plan:
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Report:
    """What the supervisor saw. `broke` is set instead of the rest when it did not come that far."""

    broke: str = ""
    ending: str = ""
    exit_code: int | None = None
    signal: int | None = None
    why: str = ""
    output: str = ""
    """The last of what was kept of the output."""
    unclean: bool = False
    """Control characters are in the kept output."""
    events: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    """Planted secrets that came out."""
    words: list[str] = field(default_factory=list)
    """The program's own claims to have escaped."""
    complaints: list[str] = field(default_factory=list)
    """What went wrong when the host used the collected files."""
    late_s: float = 0.0
    left: int = 0
    """Processes that outlived the return of the box."""
    peak_bytes: int = 0
    """The most memory the supervisor took."""

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Report:
        return cls(**json.loads(text))

    def escapes(self) -> list[str]:
        """What of this shows that the program got out, in words."""
        found = [self.broke] if self.broke else []
        found += [f"a secret came out: {secret[:18]}..." for secret in self.secrets]
        found += [*self.words, *self.complaints]
        if self.unclean:
            found.append("control characters are in the kept output")
        return found

    @property
    def seen(self) -> str:
        """How it ended, for a reader who wonders."""
        return (
            f"ending={self.ending} exit_code={self.exit_code} signal={self.signal} why={self.why!r}"
        )
