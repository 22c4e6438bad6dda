"""Where a value stands that a program reads from a file of settings only when it runs: the text names an
expression (`cfg.lr`) or nothing at all (`**options`), and one line of a file that the run opened, of a data
class or of a command line has that key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from reenact.program.fault import Fault
from reenact.program.hyperparameter import Kind
from reenact.rules.evidence import Evidence
from reenact.rules.finding import Finding
from reenact.types import Place

SUFFIXES = (".yaml", ".yml", ".json", ".toml")
LARGEST = 1 << 18
NUMBERS = frozenset({
    Kind.LEARNING_RATE, Kind.BATCH_SIZE, Kind.EPOCHS, Kind.DROPOUT, Kind.WEIGHT_DECAY, Kind.MOMENTUM,
    Kind.UNITS, Kind.FILTERS, Kind.KERNEL_SIZE, Kind.GRADIENT_CLIP,
})  # fmt: skip
"""Kinds whose value is a number: a word in its place is an expression."""
_LAST_WORD = re.compile(r"(\w+)\W*$")


KEYS = {
    Fault.HBS: r"(?:train_)?batch[_-]?size", Fault.HLR: r"lr|learning[_-]rate", Fault.HMO: r"momentum",
    Fault.HNE: r"(?:n(?:um)?_|max_)?epochs", Fault.HWD: r"weight[_-]decay|wd", Fault.RCD: r"dropout",
}  # fmt: skip
"""How settings call what a fault is about."""


def placed_in_settings(findings: Iterable[Finding], evidence: Evidence) -> tuple[Finding, ...]:
    """The findings; those about a number that a file of settings holds stand there."""
    texts = _opened(evidence)
    return tuple(
        _set_somewhere(one, evidence, texts) if one.place is None else _moved(one, evidence, texts)
        for one in findings
    )


def _set_somewhere(finding: Finding, evidence: Evidence, texts: Mapping[PurePosixPath, str]) -> Finding:
    """A finding without a place stands where the one key of its fault is set."""
    if finding.fault not in KEYS:
        return finding
    words = KEYS[finding.fault]
    key = re.compile(
        rf"""[\s-]*["']?(?:{words})["']?\s*(?:[:=]|: \w+ =)|.*add_argument\(\s*["']--(?:{words})["']""",
        re.IGNORECASE,
    )
    own = (
        {one.path: one.text for one in evidence.program.files if one.path.suffix == ".py"}
        if evidence.program
        else {}
    )
    return _at_key(finding, key, {**own, **texts})


def _at_key(finding: Finding, key: re.Pattern[str], texts: Mapping[PurePosixPath, str]) -> Finding:
    places = [
        Place(file, number)
        for file, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if key.match(line)
    ]
    return replace(finding, place=places[0]) if len(places) == 1 else finding


def _moved(finding: Finding, evidence: Evidence, texts: Mapping[PurePosixPath, str]) -> Finding:
    params = (one for one in evidence.hyperparameters if one.id == finding.hyperparameter)
    param = next(params, None)
    if param is None or param.kind not in NUMBERS or not isinstance(param.in_force, str):
        return finding
    word = _LAST_WORD.search(param.in_force)
    if word is None:
        return finding
    return _at_key(finding, re.compile(rf"""[\s-]*["']?{word[1]}["']?\s*[:=]"""), texts)


def _opened(evidence: Evidence) -> dict[PurePosixPath, str]:
    """The files of settings in the program's folder that the watched run opened."""
    if evidence.opened is None or evidence.program is None:
        return {}
    folder = evidence.program.folder.resolve()
    paths = [Path(one.path).resolve() for one in evidence.opened.files if one.size in range(LARGEST)]
    return {
        PurePosixPath(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace")
        for path in paths
        if path.suffix in SUFFIXES and path.is_relative_to(folder) and path.is_file()
    }
