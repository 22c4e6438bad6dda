"""What the text alone says of an edit; nothing is run."""

from __future__ import annotations

from collections import Counter

from reenact.diagnosis.fixes.spoken import Spoken, objection
from reenact.diagnosis.fixes.text import CHANGES_NOTHING, TextCheck, safety_of
from reenact.diagnosis.judge import judging, read_only
from reenact.diagnosis.options import DiagnoseOptions
from reenact.faults.detector import run_detectors
from reenact.faults.finding import Finding
from reenact.faults.fix import FixSafety, FixTried
from reenact.faults.observation import Suggestion
from reenact.faults.registry import detector
from reenact.program.edit.change import Rewrite
from reenact.program.patch import Patch
from reenact.program.program import program_from_text

LOOP = """import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
PROGRAM = program_from_text(LOOP)
CHECK = TextCheck(PROGRAM, judging(DiagnoseOptions()))


def edit(old: str, new: str) -> Patch:
    return Patch((Rewrite("train.py", old, new, by_template=True),))


def found(*edits: Patch) -> Finding:
    (one,) = run_detectors([detector("RE010")], read_only(PROGRAM))
    given = tuple(Suggestion(each, None, None, None) for each in edits)
    return one.refined(suggestions=given, candidates=())


STEP = "    optimizer.step()\n"
MENDS = edit(STEP, f"{STEP}    optimizer.zero_grad()\n")


def test_the_first_edit_with_which_the_detector_is_silent_is_the_fix() -> None:
    broken = edit(STEP, "    optimizer.step(\n")
    useless = edit(STEP, f"{STEP}    print(loss)\n")
    elsewhere = edit("no such line\n", "")
    nothing = edit(STEP, STEP)
    one = CHECK.fixed(found(broken, useless, elsewhere, nothing, MENDS), FixTried.NOT_RUN)
    assert one.fix is not None
    assert one.fix.patch == MENDS
    assert one.fix.sentence == "not run"
    assert "+    optimizer.zero_grad()" in one.fix.diff
    parse, fires, missing, same = (each.reason for each in one.dropped_fixes)
    assert "would not be Python any more" in parse
    assert fires == "RE010 still fires"
    assert "is not in train.py" in missing
    assert same == CHANGES_NOTHING


def test_an_edit_that_brings_another_proven_fault_is_no_fix() -> None:
    one = found()
    before = Spoken(Counter({"RE010": 1, "RE017": 1}), frozenset({"RE010"}))
    assert objection(one, before, Spoken(Counter({"RE017": 1}))) == ""
    # Proven by now, but it fired before.
    assert objection(one, before, Spoken(Counter({"RE017": 1}), frozenset({"RE017"}))) == ""
    new = Spoken(Counter({"RE013": 1}), frozenset({"RE013"}))
    assert objection(one, before, new) == "RE013 fires with it"


def test_a_fault_at_two_lines_may_stay_at_the_other() -> None:
    twice = Spoken(Counter({"RE010": 2}), frozenset({"RE010"}))
    once = Spoken(Counter({"RE010": 1}), frozenset({"RE010"}))
    assert objection(found(), twice, once) == ""
    assert objection(found(), twice, twice) == "RE010 still fires"


def test_a_fix_is_as_safe_as_the_page_of_its_fault_says() -> None:
    assert safety_of("RE010") is FixSafety.UNSAFE
    assert safety_of("RE902") is FixSafety.UNSAFE
    assert safety_of("no such detector") is FixSafety.UNSAFE
    assert safety_of("RE904") is FixSafety.SAFE
