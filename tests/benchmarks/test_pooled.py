"""Figures over several results files: counts are added, rows counted by one rule, nothing is
invented.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.children import ROOT
from benchmarks.pages import Site
from benchmarks.pooled import pooled
from benchmarks.results import Result
from benchmarks.scorecard import Table
from benchmarks.share import Share
from reenact.errors import InputError


def result(name: str, *tables: Table, **counts: tuple[int, int]) -> Result:
    figures = {figure: Share(*count).figure(figure) for figure, count in counts.items()}
    return Result(name, f"python -m benchmarks {name}", "", figures=figures, tables=tables)


def recounted(described: dict[str, Any], *results: Result) -> dict[str, str]:
    """The one figure by name, as counts."""
    found = pooled(
        {one.name: one for one in results},
        {"recount": {"it": {"about": "it", **described}}},
    )
    return {name: f"{figure:count}" for name, figure in found["it"].figures.items()}


def test_counts_are_added_and_the_interval_is_that_of_the_sum() -> None:
    described = {"pool": {"both": {"about": "both", "results": ["a", "b"], "figures": ["named"]}}}
    results = {
        "a": result("a", named=(1, 4)),
        "b": result("b", named=(8, 8), other=(1, 1)),
    }
    both = pooled(results, described)["both"]
    assert both.figures == {"named": Share(9, 12).figure("named")}
    assert both.results == ("a", "b")
    assert pooled({"a": results["a"]}, described) == {}, "a part of a pool is no pool"


def test_one_rule_for_three_and_for_ten_runs() -> None:
    columns = ("fault", "sign.")
    rows = (("D1", "5/10"), ("D2", "6/10"), ("D3", "1/3"), ("D4", "2/3"))
    listed = result("repair", Table("random:own, budget 20", columns, rows))
    described = {
        "results": ["repair"],
        "rule": "most-runs",
        "budget": "20",
        "strategies": ["random:own"],
    }
    assert recounted(described, listed) == {"random_own": "2 of 4"}


def test_programs_that_crash_are_counted_apart() -> None:
    diagnosed = result(
        "quick",
        Table(
            "faulty programs of which a true fault was named",
            ("program",),
            (("1",), ("2",), ("3",)),
        ),
        Table("half: missed", ("program",), (("4",), ("5",))),
    )
    repaired = result(
        "repair",
        Table(
            "significantly better",
            ("program", "in a sentence"),
            (("1", "a failed -> 1"), ("2", "a 0 -> 1")),
        ),
        Table(
            "no training could be compared",
            ("program", "what the repair says"),
            (
                ("4", "It crashes."),
                ("5", "The program needs a package that is not here."),
            ),
        ),
    )
    described = {"results": ["quick", "repair"], "rule": "crashes-apart"}
    assert recounted(described, diagnosed, repaired) == {
        "crashing": "2 of 5",
        "of_crashing": "1 of 2",
        "of_silent": "2 of 3",
    }


def test_only_what_was_counted_can_be_dropped() -> None:
    listed = result("repair", Table("better", ("program",), (("1",), ("2",))), better=(2, 5))
    described = {
        "results": ["repair"],
        "rule": "without",
        "figure": "better",
        "table": "better",
        "column": "program",
    }
    assert recounted({**described, "dropped": {"2": "why"}}, listed) == {"better": "1 of 5"}
    with pytest.raises(InputError, match="does not count 7"):
        recounted({**described, "dropped": {"7": "why"}}, listed)
    with pytest.raises(InputError, match="no table 'other'"):
        recounted({**described, "table": "other", "dropped": {}}, listed)


def test_readme_shows_all_sets_and_not_the_best() -> None:
    """Counted by hand from the results files."""
    pools = Site(ROOT).pools
    shown = {
        name: {key: f"{figure:count}" for key, figure in pool.figures.items()}
        for name, pool in pools.items()
    }
    assert shown["modern-all"] == {
        "named": "189 of 281",
        "first": "142 of 281",
        "alarms": "27 of 240",
    }
    assert shown["modern-last"] == {
        "named": "64 of 87",
        "first": "46 of 87",
        "alarms": "2 of 73",
    }
    assert shown["field-sound"] == {"alarms": "20 of 85"}
    assert shown["field-crashes"] == {
        "crashing": "16 of 35",
        "of_crashing": "12 of 16",
        "of_silent": "15 of 19",
    }
    assert list(shown["repair-most-runs"].values()) == [
        f"{count} of 9" for count in (6, 5, 4, 3, 2, 1)
    ]
    sets = sorted(file.stem for file in (ROOT / "docs/benchmarks/results").glob("modern-*.json"))
    left_out = set(sets) - set(pools["modern-all"].results)
    assert left_out == {"modern-tune", "modern-ninth-others"}, "the half for rules, and other tools"
