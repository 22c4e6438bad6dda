"""What others published, and the entries of ReproduceBench: facts, and what is missing here to
run them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter

from benchmarks.papers.cases import (
    DATA,
    PAPER,
    Asked,
    Metric,
    PaperCase,
    Reference,
    shipped,
)
from reenact.errors import InputError
from reenact.paper.measure.verdict import Verdict
from reenact.types import Table

VARIABLE = "REENACT_DATA"
ENTRIES = "reproducebench.toml"
SEEDS = 3
SECONDS = 3600.0
"""What a seed of an entry is taken to need: nobody published it."""
PEERS = (
    ("AutoReproduce, Gemini-2.5-Pro", "94.9 %", "19.7 %", "77.6", "-", "-"),
    ("AutoReproduce, o3-mini", "92.3 %", "24.3 %", "75.2", "48.5", "1.87"),
    ("PaperCoder, o3-mini", "17.9 %", "89.2 %", "60.3", "45.1", "0.50-0.70"),
    ("Agent Laboratory, GPT-4o", "23.1 %", "82.3 %", "48.6", "-", "-"),
    ("ChatDev, GPT-4o", "2.6 %", "99.6 %", "43.3", "-", "-"),
    ("RePro, o3-mini and DeepSeek-V3", "never runs", "-", "-", "62.6", "-"),
    ("DeepCode, by its own report", "-", "-", "-", "73.5", "-"),
)
"""Execution rate, gap and mixed Align-Score on ReproduceBench; PaperBench Code-Dev; US dollars
a paper.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One paper of ReproduceBench."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    method: str
    title: str
    arxiv: str
    domain: str
    dataset: str
    metric: str
    higher_is_better: bool
    value: float
    """What the reference implementation reached on the authors' machine."""
    lines: int
    data_lines: int
    pretrained: bool

    @property
    def folder(self) -> Path | None:
        """Where a user keeps its paper and data; none when no folder of data is named."""
        root = os.environ.get(VARIABLE, "")
        return Path(root) / "papers" / self.name if root else None

    def missing(self) -> tuple[str, ...]:
        """What there is not, to run it here."""
        folder = self.folder
        there = {
            "paper": folder is not None
            and ((folder / PAPER).is_dir() or any(folder.glob(f"{PAPER}.*"))),
            "data": folder is not None and (folder / DATA).is_dir(),
            "GPU": any(Path("/dev").glob("nvidia[0-9]*")),
        }
        return tuple(name for name, is_there in there.items() if not is_there)

    def case(self) -> PaperCase:
        """As a case of this bench. InputError when something is missing."""
        folder, gone = self.folder, self.missing()
        if folder is None or gone:
            named = f"${VARIABLE}/papers/{self.name}"
            raise InputError(
                f"The entry {self.name} cannot be run here: missing {', '.join(gone)}.",
                next_step=f"Put the paper into {named}/paper.* and the data into {named}/data.",
            )
        asked = Asked(
            task=self.domain,
            method=self.method,
            metric=self.metric,
            dataset=self.dataset,
            instruction=f"Reproduce the experiment on {self.dataset}, measured by {self.metric}.",
        )
        return PaperCase(
            folder=folder,
            title=self.title,
            expected=Verdict.REPRODUCED,
            scale=1.0,
            seeds=SEEDS,
            seconds=SECONDS,
            goal=asked,
            metric=Metric(self.metric, "", self.higher_is_better),
            reference=Reference(self.value, 0.0, 1),
            claims=(),
        )


def entries() -> tuple[Entry, ...]:
    """All entries of ReproduceBench."""
    parsed = tomllib.loads((shipped() / ENTRIES).read_text(encoding="utf-8"))
    return TypeAdapter(tuple[Entry, ...]).validate_python(parsed["entries"])


def entry_cases(names: Sequence[str]) -> tuple[PaperCase, ...]:
    """The named entries as cases."""
    known = {one.name: one for one in entries()}
    if unknown := [name for name in names if name not in known]:
        raise InputError(
            f"ReproduceBench has no entry {unknown[0]!r}.",
            next_step=f"Name one of: {', '.join(known)}.",
        )
    return tuple(known[name].case() for name in dict.fromkeys(names))


def entries_table() -> Table:
    """Every entry, and what is missing."""
    rows = tuple(
        (
            one.name,
            one.dataset,
            f"{one.metric} {one.value:g}",
            f"missing: {', '.join(gone)}" if (gone := one.missing()) else "ready: --entry",
        )
        for one in entries()
    )
    return Table("ReproduceBench", ("entry", "data set", "reference", "here"), rows)


def peers_table() -> Table:
    """What others published of themselves; nothing of it was measured here."""
    heading = (
        "published by others",
        "executed",
        "gap",
        "Align-Score",
        "Code-Dev",
        "$ a paper",
    )
    return Table("Peers, on other papers", heading, PEERS)
