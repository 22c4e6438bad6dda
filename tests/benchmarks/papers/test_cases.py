"""The shipped papers are whole: quotes stand in them, and their claims were measured and can be
again.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import tomllib
from dataclasses import replace
from functools import cache
from statistics import mean, stdev
from typing import Any

import pytest

from benchmarks.papers.cases import load_cases
from reenact.intake.papers.paper import Paper, Table
from reenact.intake.papers.read import read_paper
from reenact.sandbox.choose import choose

pytestmark = pytest.mark.release

FOLDERS = {case.id: case.folder for case in load_cases() if case.twin is None}
NAMES = ("damped-octaves", "earned-trust")
MOST_BYTES = 200_000
ACKNOWLEDGED = "This is a paper written for testing reproduction tools."
TIMES_STANDARD_ERROR = 3


@cache
def facts(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDERS[name] / "case.toml").read_text(encoding="utf-8"))


@cache
def criteria(name: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = tomllib.loads(
        (FOLDERS[name] / "criteria.toml").read_text(encoding="utf-8")
    )["criteria"]
    return listed


@cache
def measured(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDERS[name] / "reference" / "measured.json").read_bytes())
    return found


@cache
def paper(name: str) -> Paper:
    return read_paper(str(FOLDERS[name] / "paper"), box=choose(trust_code=True))


def samples(name: str, method: str) -> list[float]:
    """What the reference measured for a claim, seed by seed."""
    if name == "damped-octaves":
        return by_rate(facts(name)["omission"]["value"], method)
    values: list[float] = measured(name)["accuracy"][method]
    return values


def by_rate(rate: float, method: str) -> list[float]:
    values: list[float] = measured("damped-octaves")["explained_variance_by_learning_rate"][
        str(rate)
    ][method]
    return values


def run_reference(python: str, name: str, *arguments: str) -> dict[str, float]:
    """The metric of every method that one run of the reference prints."""
    ended = subprocess.run(
        [python, str(FOLDERS[name] / "reference" / "run.py"), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    return {line["method"]: line["value"] for line in lines}


def test_the_catalogue_holds_these_cases() -> None:
    assert tuple(FOLDERS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_case_is_small_and_complete(name: str) -> None:
    folder = FOLDERS[name]
    files = [
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert sum(path.stat().st_size for path in files if "recordings" not in path.parts) < MOST_BYTES
    stated = facts(name)
    assert all(
        stated["goal"][word] for word in ("task", "method", "metric", "dataset", "instruction")
    )
    assert stated["metric"]["name"] == stated["goal"]["metric"]
    assert stated["title"] == paper(name).title


@pytest.mark.parametrize("name", NAMES)
def test_the_paper_is_read_without_loss(name: str) -> None:
    read = paper(name)
    assert read.lost == ()
    assert read.find(ACKNOWLEDGED)
    assert all(reference.cited_in for reference in read.references)


@pytest.mark.parametrize("name", NAMES)
def test_every_quote_of_the_criteria_stands_in_the_paper(name: str) -> None:
    listed = criteria(name)
    quotes = [quote for one in listed for quote in (one["quote"], *one.get("also", ()))]
    assert [quote for quote in quotes if not paper(name).find(quote)] == []
    assert [one["id"] for one in listed] == [
        f"H{number:02}" for number in range(1, len(listed) + 1)
    ]
    assert {frozenset(one) - {"also"} for one in listed} == {
        frozenset({"id", "quote", "parameter", "value", "must"})
    }
    assert len({(one["parameter"], one["value"]) for one in listed}) == len(listed)


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_stands_in_its_table_and_was_measured(name: str) -> None:
    tables = {block.label: block for block in paper(name).blocks() if isinstance(block, Table)}
    for claim in facts(name)["claims"]:
        rows = [row for row in tables[claim["table"]].rows if row[0] == claim["method"]]
        assert f"{claim['value']:.1f}" in " ".join(rows[0]), claim
        values = samples(name, claim["method"])
        assert len(values) >= 10
        assert mean(values) == pytest.approx(claim["value"], abs=0.051), claim
        assert stdev(values) == pytest.approx(claim["spread"], abs=0.051), claim


@pytest.mark.parametrize("name", NAMES)
def test_the_method_is_really_ahead_of_its_baselines(name: str) -> None:
    wanted = [claim for claim in facts(name)["claims"] if claim["goal"]]
    method = facts(name)["goal"]["method"]
    baselines = [claim["method"] for claim in wanted if claim["method"] != method]
    assert baselines
    for baseline in baselines:
        pairs = zip(samples(name, method), samples(name, baseline), strict=True)
        ahead = [ours - theirs for ours, theirs in pairs]
        assert mean(ahead) > TIMES_STANDARD_ERROR * stdev(ahead) / len(ahead) ** 0.5, baseline


@pytest.mark.parametrize("name", NAMES)
def test_the_library_serves_what_the_paper_cites(name: str) -> None:
    cited = {reference.key: reference for reference in paper(name).references}
    entries = sorted((FOLDERS[name] / "library").iterdir())
    assert len(entries) == 2
    for entry in entries:
        about = tomllib.loads((entry / "about.toml").read_text(encoding="utf-8"))
        (key,) = about["keys"]
        assert about["title"].casefold() in cited[key].text.casefold()
        texts = [*entry.glob("paper.md"), *entry.glob("source/main.tex")]
        assert ACKNOWLEDGED in texts[0].read_text(encoding="utf-8")
        if (entry / "repository").exists():
            assert (
                (entry / "repository" / "LICENSE")
                .read_text(encoding="utf-8")
                .startswith("MIT License")
            )


def test_the_reference_of_the_complete_paper_measures_its_number_again(
    warm_interpreter: str,
) -> None:
    stated = facts("earned-trust")
    method = stated["goal"]["method"]
    again = run_reference(warm_interpreter, "earned-trust", "--seed", "0", "--method", method)[
        method
    ]
    assert again == pytest.approx(
        stated["reference"]["value"], abs=4 * stated["reference"]["spread"]
    )


def test_the_omitted_value_stands_in_the_lineage_alone() -> None:
    left_out = facts("damped-octaves")["omission"]
    assert str(left_out["value"]) not in paper("damped-octaves").text()
    where = FOLDERS["damped-octaves"] / "library" / left_out["where"]
    assert f"lr: float = {left_out['value']}" in where.read_text(encoding="utf-8")


def test_the_omitted_value_decides() -> None:
    stated = facts("damped-octaves")
    method, left_out = stated["goal"]["method"], stated["omission"]
    assert mean(by_rate(left_out["value"], method)) == pytest.approx(
        left_out["with_value"], abs=0.051
    )
    assert mean(by_rate(left_out["default"], method)) == pytest.approx(
        left_out["with_default"], abs=0.051
    )
    reference = runpy.run_path(str(FOLDERS["damped-octaves"] / "reference" / "run.py"))
    recipe = reference["METHODS"][method]
    assert recipe.rate == left_out["value"]
    again = reference["train"](recipe, 0)
    assert again == pytest.approx(
        stated["reference"]["value"], abs=4 * stated["reference"]["spread"]
    )
    worse = reference["train"](replace(recipe, rate=left_out["default"]), 0)
    assert worse == pytest.approx(left_out["with_default"], abs=4 * left_out["with_default_spread"])
    assert worse < again - 10
