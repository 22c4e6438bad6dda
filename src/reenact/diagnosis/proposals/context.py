"""What a model gets to know of the watched run: anomalies first, about 2,500 tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from reenact.accounts.account import AccountStatus, Entry
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.probe.trace import Trace

MOST = 10_000
"""Characters."""
NOTHING = "It was not run."
POINTS = 10
FEW = 12
WITHOUT = "Not given this time."
"""What the first sample gets, so that facts do not lead all of them the same way."""


def facts_of(evidence: Evidence, findings: Iterable[Finding]) -> str:
    """The facts in lines, each part with its heading; what is too much is left out at the end."""
    trace = evidence.trace
    if trace is None:
        return NOTHING
    parts = [
        ("How it ended", _ended(evidence, trace)),
        ("Does not balance, or only the author can judge", entries_of(evidence)),
        ("What detectors say", _findings(findings)),
        ("Metrics over the steps", _curves(trace)),
        ("Data that a model was given", _data(trace)),
        ("Layers", _layers(trace)),
        ("Not seen", list(trace.missing)[:FEW]),
    ]
    text = "\n\n".join(
        "\n".join([f"{head}:", *(f"- {line}" for line in lines)]) for head, lines in parts if lines
    )
    return text[:MOST]


def entries_of(evidence: Evidence) -> list[str]:
    """Entries of the books that are out of balance, then those that only the author can judge."""
    entries = [(one.book.value, entry) for one in evidence.accounts for entry in one.entries]
    found: list[str] = []
    for status in (AccountStatus.IMBALANCE, AccountStatus.FACT):
        found += [_entry(book, one) for book, one in entries if one.status is status]
    return found


def _entry(book: str, entry: Entry) -> str:
    at = f" (line {entry.place.line} of {entry.place.file})" if entry.place is not None else ""
    return f"{book}: {entry.sentence}{at}"


def _ended(evidence: Evidence, trace: Trace) -> list[str]:
    found = [evidence.outcome.sentence] if evidence.outcome is not None else []
    found.append(f"{trace.step_count} optimizer steps in {trace.seconds:.1f} s")
    crash = evidence.crash
    if crash is not None:
        found.append(f"{crash.type}: {crash.message[:300]}")
    return found


def _findings(findings: Iterable[Finding]) -> list[str]:
    return [f"{one.message[:300]}{_at(one)}" for one in islice(findings, FEW)]


def _at(finding: Finding) -> str:
    return f" (line {finding.line})" if finding.line is not None else ""


def _curves(trace: Trace) -> list[str]:
    names = dict.fromkeys(one.name for one in trace.metrics)
    series = [("loss of the steps", trace.losses), *((name, trace.metric(name)) for name in names)]
    found = []
    for name, one in islice(series, FEW):
        known = one.known
        if len(known):
            every = max(1, len(known) // POINTS)
            points = [*known.values[::every][:POINTS], known.values[-1]]
            found.append(f"{name}: {', '.join(f'{value:.4g}' for value in points)}")
    return found


def _data(trace: Trace) -> list[str]:
    return [str(line) for line in islice(_tensors(trace), FEW)]


def _tensors(trace: Trace) -> Iterator[str]:
    for one in trace.data:
        values = f"{one.minimum:.4g} to {one.maximum:.4g}" if one.minimum is not None else "unknown"
        classes = f", {one.classes} classes" if one.classes else ""
        yield f"{one.split} {one.role}: shape {one.shape}, {one.dtype}, values {values}{classes}"


def _layers(trace: Trace) -> list[str]:
    graph = trace.graph
    if graph is None:
        return []
    return [f"{one.name}: {one.type}" for one in graph.layers[: 3 * FEW]]
