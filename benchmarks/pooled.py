"""Figures over several results files, or over a part of one, for README and the page of pooled
figures.

Nothing is measured here: counts of results files are added, or rows of their tables counted, and
the interval is that of the sum. `evidence.toml` says which ([pool], [recount]).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.results import Result
from benchmarks.scorecard import Figure
from benchmarks.share import Share
from reenact.errors import InputError

_RUNS = re.compile(r"(\d+)/(\d+)")
MISSING_PACKAGE = "needs a package"
CRASHED_BEFORE = "failed ->"


@dataclass(frozen=True)
class Pooled:
    """Figures that several results give together, and which these are."""

    about: str
    results: tuple[str, ...]
    figures: Mapping[str, Figure]


def pooled(results: Mapping[str, Result], described: Mapping[str, Any]) -> dict[str, Pooled]:
    """By name, those whose results exist."""
    pools = {
        name: _added(pool, results)
        for name, pool in described.get("pool", {}).items()
        if results.keys() >= set(pool["results"])
    }
    recounts = {
        name: Pooled(
            recount["about"],
            tuple(recount["results"]),
            RECOUNTS[recount["rule"]](results, recount),
        )
        for name, recount in described.get("recount", {}).items()
        if results.keys() >= set(recount["results"])
    }
    return pools | recounts


def _added(pool: Mapping[str, Any], results: Mapping[str, Result]) -> Pooled:
    """The counts of all results, added up."""
    figures = {}
    for name in pool["figures"]:
        parts = [results[one].figures[name] for one in pool["results"]]
        share = Share(
            sum(figure.part or 0 for figure in parts),
            sum(figure.whole or 0 for figure in parts),
        )
        figures[name] = share.figure(parts[0].name)
    return Pooled(pool["about"], tuple(pool["results"]), figures)


def _most_runs(results: Mapping[str, Result], recount: Mapping[str, Any]) -> dict[str, Figure]:
    """Faults with a significant patch in more than half of the runs: one rule for any number of
    runs.
    """
    (result,) = (results[name] for name in recount["results"])
    figures = {}
    for strategy in recount["strategies"]:
        rows = _rows(result, f"{strategy}, budget {recount['budget']}")
        runs = [_RUNS.search(row["sign."]) for row in rows]
        counts = [(int(found[1]), int(found[2])) for found in runs if found is not None]
        repaired = sum(2 * significant > of for significant, of in counts)
        # Names with a colon cannot be asked for in a sentence.
        figures[strategy.replace(":", "_")] = Share(repaired, len(counts)).figure(
            f"{strategy}: repaired in most runs"
        )
    return figures


def _crashes_apart(results: Mapping[str, Result], recount: Mapping[str, Any]) -> dict[str, Figure]:
    """Named of the programs that crash, and of those that train and are wrong.

    The repairs of the same programs say which crash: nothing could be compared, or training failed
    before.
    """
    diagnosed, repaired = (results[name] for name in recount["results"])
    not_comparable = _rows(repaired, "no training could be compared")
    crashing = {
        row["program"]
        for row in not_comparable
        if MISSING_PACKAGE not in row["what the repair says"]
    }
    better = _rows(repaired, "significantly better")
    crashing |= {row["program"] for row in better if CRASHED_BEFORE in row["in a sentence"]}
    named = {row["program"] for row in _rows(diagnosed, "of which a true fault was named")}
    programs = named | {row["program"] for row in _rows(diagnosed, "missed")}
    silent = programs - crashing
    return {
        "crashing": Share(len(crashing & programs), len(programs)).figure("programs that crash"),
        "of_crashing": Share(len(named & crashing), len(crashing & programs)).figure(
            "named, of those that crash"
        ),
        "of_silent": Share(len(named & silent), len(silent)).figure("named, of those that train"),
    }


def _without(results: Mapping[str, Result], recount: Mapping[str, Any]) -> dict[str, Figure]:
    """A figure less the cases that do not deserve it; each has to be among those that were
    counted.
    """
    (result,) = (results[name] for name in recount["results"])
    figure = result.figures[recount["figure"]]
    counted = {row[recount["column"]] for row in _rows(result, recount["table"])}
    dropped: Mapping[str, str] = recount["dropped"]
    unknown = dropped.keys() - counted
    if unknown:
        raise InputError(
            f"{result.name} does not count {', '.join(sorted(unknown))}, so it cannot be dropped."
        )
    share = Share((figure.part or 0) - len(dropped), figure.whole or 0)
    return {recount["figure"]: share.figure(f"{figure.name}, without {', '.join(sorted(dropped))}")}


RECOUNTS: Mapping[str, Callable[[Mapping[str, Result], Mapping[str, Any]], dict[str, Figure]]] = {
    "most-runs": _most_runs,
    "crashes-apart": _crashes_apart,
    "without": _without,
}


def _rows(result: Result, title: str) -> list[dict[str, str]]:
    """The rows of the table with that title or the end of it, by the names of their columns."""
    for table in result.tables:
        if table.title.endswith(title):
            return [dict(zip(table.columns, map(str, row), strict=True)) for row in table.rows]
    raise InputError(f"{result.name} has no table {title!r}, which {__name__} counts.")


def table_rows(pools: Iterable[Pooled], link: Callable[[str], str]) -> list[Sequence[str]]:
    """A row a figure, for the page."""
    return [
        (
            pool.about,
            figure.name,
            f"{figure:count}",
            f"{figure}",
            f"{figure:interval}",
            _linked(pool, link),
        )
        for pool in pools
        for figure in pool.figures.values()
    ]


def _linked(pool: Pooled, link: Callable[[str], str]) -> str:
    return ", ".join(f"[{name}]({link(name)})" for name in pool.results)
