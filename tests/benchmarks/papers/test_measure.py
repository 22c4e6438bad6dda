"""A small paper from end to end: a scripted model, real sandboxed runs, a recording and its
replay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers.case_run import goal_gap, goal_measured
from benchmarks.papers.cases import load_cases
from benchmarks.papers.measure import measure
from benchmarks.papers.runner import BenchRunner
from benchmarks.papers.variant import variants_of
from benchmarks.scorecard import Scorecard
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.paper.measure.gap import Comparison, Grade
from reenact.paper.review.claims import PaperClaim
from reenact.sandbox.choose import choose
from reenact.types import ExitCode

pytestmark = pytest.mark.release

CONFIG = "RATE = 0.05\nSTEPS = 200\nHELD_OUT = 50\n"
DATA = '''"""Noisy points on a line."""

import random


def sample_batch(seed, size=32):
    rng = random.Random(seed)
    xs = [rng.uniform(-1.0, 1.0) for _ in range(size)]
    return {"x": xs, "y": [3.0 * x + rng.gauss(0.0, 0.1) for x in xs]}
'''
MODEL = '''"""A slope that learns."""

from config import RATE


def build_model(seed):
    return {"a": 0.0}


def loss_on(model, batch):
    return sum((model["a"] * x - y) ** 2 for x, y in zip(batch["x"], batch["y"])) / len(batch["x"])


def update(model, batch):
    errors = [(model["a"] * x - y) * x for x, y in zip(batch["x"], batch["y"])]
    model["a"] -= RATE * 2 * sum(errors) / len(errors)
'''
EVALUATE = '''"""The mean absolute error on points that were not trained on."""

from config import HELD_OUT
from data import sample_batch


def evaluate(model, seed):
    batch = sample_batch(10_000 + seed, HELD_OUT)
    return sum(abs(model["a"] * x - y) for x, y in zip(batch["x"], batch["y"])) / HELD_OUT
'''
TRAIN = '''"""Trains the slope and measures it."""

import argparse
import json

from config import STEPS
from data import sample_batch
from evaluate import evaluate
from model import build_model, update

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--dry-run", action="store_true")
parser.add_argument("--scale", type=float, default=1.0)
args = parser.parse_args()
model = build_model(args.seed)
for step in range(2 if args.dry_run else max(1, round(STEPS * args.scale))):
    update(model, sample_batch(1000 * args.seed + step))
plain = build_model(args.seed)
metrics = {"slow_slopes_error": evaluate(model, args.seed), "zero_error": evaluate(plain, args.seed)}
with open("metrics.json", "w") as file:
    json.dump(metrics, file)
'''


def fact(text: str, quote: str, place: str) -> dict[str, Any]:
    return {
        "fact": text,
        "scope": "training",
        "quote": quote,
        "places": [place],
        "sort": "setup",
        "weight": 2,
    }


def files(**texts: str) -> dict[str, Any]:
    return {
        "files": [{"path": name.replace("_", "."), "text": text} for name, text in texts.items()]
    }


FACTS = [
    fact("The learning rate is 0.05.", "a learning rate of 0.05", "1:1.1"),
    fact("Training takes 200 gradient steps.", "We take 200 steps", "1:1.2"),
    fact(
        "The metric is the mean absolute error.",
        "The error is the mean absolute error",
        "1:1.3",
    ),
    fact("There are 50 held-out points.", "on 50 held-out points", "1:1.3"),
]
CLAIM = {
    "metric": "error",
    "value": 0.07,
    "higher_is_better": False,
    "method": "Slow Slopes",
    "place": "2:1",
    "quote": "0.07",
}
LEARNT = {"summary": "Fit a slope by gradient descent."}


def answering(model: str = MODEL) -> Callable[[Any], Any]:
    """A model that knows this paper."""
    rest = files(
        train_py=TRAIN,
        evaluate_py=EVALUATE,
        reproduce_sh="python train.py\n",
        README_md="# Slopes\n",
        requirements_txt="\n",
    )
    by_end = {
        "data/write": files(config_py=CONFIG, data_py=DATA),
        "method/write": files(model_py=model),
        "experiment/write": rest,
        "match": {"matches": [{"claim": "C1", "metric": "slow_slopes_error"}]},
    }
    by_prompt: dict[str, Any] = {
        "paper/review": {
            "overall": [{"text": "A line is fitted.", "places": ["0:1.1"]}],
            "method": [],
            "experiment": [],
        },
        "paper/claims": {"claims": [CLAIM]},
        "paper/begin": LEARNT,
        "paper/learn": LEARNT,
        "paper/refactor": {},
        "paper/scan": {"items": []},
    }

    def answer(call: Any) -> Any:
        kind = call.prompt.split()[0]
        if kind == "paper/guide":
            return {"items": FACTS if "configuration" in call.step else []}
        if kind == "paper/atoms":
            return {"facts": []}
        if kind == "paper/judge":
            ids = [f"F{number}" for number in range(1, 9)]
            lines = [{"file": "config.py", "line": 1, "text": "RATE = 0.05"}]
            shown = [one for one in ids if f"{one} " in call.as_text()]
            return {
                "verdicts": [
                    {"id": one, "seen": "s", "verdict": "pass", "lines": lines} for one in shown
                ]
            }
        found = next((value for end, value in by_end.items() if call.step.endswith(end)), None)
        return found if found is not None else by_prompt[kind]

    return answer


@pytest.fixture
def runner(tmp_path: Path) -> BenchRunner:
    # The code is our own, so where no sandbox works it may run without one.
    return BenchRunner(Journal.in_memory(), choose(trust_code=True), tmp_path / "cache")


def row(card: Scorecard, title: str = "Cases, the whole method") -> dict[str, str]:
    table = next(one for one in card.tables if one.title == title)
    return dict(zip(table.columns, table.rows[0], strict=True))


def test_a_paper_is_run_recorded_and_replayed(folder: Path, runner: BenchRunner) -> None:
    cases = load_cases(folder)
    model = Scripted(answering())
    card = measure(cases, replace(runner, model=model, record=True))
    first = row(card)
    assert (first["reached"], first[""]) == ("reproduced", "true"), card.tables[-3:]
    taken = row(card, "Fingerprints and cost, the whole method")
    assert (taken["recall"], taken["precision"], taken["grounded"]) == (
        "1.00",
        "1.00",
        "4 of 4",
    )
    assert (folder / "slow-slopes" / "recordings" / "whole.jsonl").is_file()
    asked = "".join(call.as_text() for call in model.calls)
    assert str(folder.parent) not in asked, "a prompt that knows its folder fits no other machine"
    assert "H01" not in asked, "the list made by hand is for the judge alone"
    unmet = {goal.name: goal.met for goal in card.goals if goal.met is not True}
    assert unmet == {"false papers that are not": None}, "none of them is false"
    assert card.exit_code is ExitCode.INCONCLUSIVE
    again = measure(cases, replace(runner, journal=Journal.in_memory()))
    assert row(again)["measured"] == first["measured"]
    assert row(again)["reached"] == "reproduced"


def test_code_that_never_runs_is_a_gap_of_one(folder: Path, runner: BenchRunner) -> None:
    broken = Scripted(answering(model="def build_model(seed):\n    return missing\n"))
    variant = variants_of([], ["one-shot"])[1]
    card = measure(load_cases(folder), replace(runner, model=broken), variants=[variant])
    first = row(card, "Cases, one-shot")
    assert (first["reached"], first["gap"], first["measured"]) == (
        "inconclusive",
        "100.0 %",
        "-",
    )
    assert row(card, "Fingerprints and cost, one-shot")["recall"] == "-"
    assert card.exit_code is ExitCode.INCONCLUSIVE, (
        "goals are those of the whole method, which was not first"
    )


def test_a_recording_that_does_not_answer_all_is_inconclusive(
    folder: Path, runner: BenchRunner
) -> None:
    recordings = folder / "slow-slopes" / "recordings"
    recordings.mkdir()
    (recordings / "whole.jsonl").write_text('{"format": "reenact-recording/1"}\n')
    card = measure(load_cases(folder), runner)
    assert row(card)["reached"] == "inconclusive"
    why = next(table for table in card.tables if table.title == "Why not")
    assert "has no answer for step" in why.rows[0][2]


def test_a_claim_is_found_by_its_value_and_method(folder: Path) -> None:
    (case,) = load_cases(folder)
    claim, comparison = _stated(0.07, "Slow Slopes (ours)"), 0.0712
    others = [
        (_stated(0.07, "Mean"), 9.0),
        (_stated(0.5, "Slow Slopes"), 8.0),
        (claim, None),
        (claim, comparison),
    ]
    assert goal_measured(case, [_compared(one, value) for one, value in others]) == comparison
    assert goal_measured(case, [_compared(one, value) for one, value in others[:2]]) is None
    assert goal_gap(case, []) == 1.0
    unknown = replace(case, claims=(), goal=replace(case.goal, dataset="line"))
    assert goal_measured(unknown, [_compared(_stated(0.3, "Slow Slopes"), 0.31)]) == 0.31


def _stated(value: float, method: str) -> PaperClaim:
    return PaperClaim(
        id="C1",
        metric="error",
        value=value,
        unit="",
        higher_is_better=False,
        method=method,
        dataset="a line",
        setting="",
        spread=None,
        place="2:1",
        quote=f"{value}",
    )


def _compared(claim: PaperClaim, measured: float | None) -> Comparison:
    return Comparison(claim, "m", measured, None, 1, 0.0, Grade.A)
