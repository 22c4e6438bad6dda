"""Findings of `lint` that are known already: written to a file once, left out from then on.

A finding is known by its file, code and message, so that lines above it may come and go. Two that
are alike in one file are counted: a third one is new.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reenact.api.linting import Linted, LintFinding, LintResult
from reenact.errors import InputError
from reenact.files import MIB, read_text
from reenact.report.document import Diagnostic

VERSION = 1
MOST_BYTES = 64 * MIB


def write_baseline(result: LintResult, file: Path) -> None:
    """Write every finding of a result as known."""
    known = Counter(map(_key, result.findings))
    rows = [[*key, count] for key, count in sorted(known.items())]
    file.write_text(
        json.dumps({"version": VERSION, "findings": rows}, indent=1) + "\n",
        encoding="utf-8",
    )


def without_known(result: LintResult, file: Path) -> tuple[LintResult, int]:
    """The result with only its new findings, and how many were left out. Raises InputError."""
    left = _read(file)
    kept = []
    known = 0
    for linted in result.files:
        new = []
        for pair in zip(linted.findings, linted.diagnostics, strict=True):
            key = _key(pair[0])
            if left[key] > 0:
                left[key] -= 1
                known += 1
            else:
                new.append(pair)
        kept.append(_with(linted, new))
    return LintResult(tuple(kept)), known


def _with(linted: Linted, pairs: Sequence[tuple[LintFinding, Diagnostic]]) -> Linted:
    return replace(
        linted,
        findings=tuple(finding for finding, _ in pairs),
        diagnostics=tuple(diagnostic for _, diagnostic in pairs),
    )


def _key(finding: LintFinding) -> tuple[str, str, str]:
    return Path(finding.file).as_posix(), finding.code, finding.message


def _rows(data: Any) -> Any:
    if data["version"] != VERSION:
        raise ValueError(data["version"])
    return data["findings"]


def _read(file: Path) -> Counter[tuple[str, str, str]]:
    try:
        rows = _rows(json.loads(read_text(file, MOST_BYTES)))
        return Counter({(str(path), str(code), str(text)): int(n) for path, code, text, n in rows})
    except (ValueError, TypeError, KeyError):
        raise InputError(
            f"This is not a baseline of reenact lint. Received: {file}.",
            next_step=f"reenact lint --write-baseline {file}",
        ) from None
