"""What is compared, when a verdict has changed, and how it is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.blind import cases
from benchmarks.blind.card import scorecard
from benchmarks.blind.cases import Case, drawn, examples
from benchmarks.blind.compare import NOT_COMPARABLE, SAME, Compared, Rewritten, is_changed
from benchmarks.blind.rewrites.every import ALL
from benchmarks.blind.rewrites.text import Edit, Project, Source
from benchmarks.blind.transcript import run
from benchmarks.blind.verdict import Shown, Verdict, lost, verdict
from benchmarks.dataset.splits import splits, trainings_of

pytestmark = pytest.mark.release

AT_3 = Shown("OP05", "RE010", "train.py", (3,))
OF_TWO = Shown("OP05", "UM014", "train.py", (3, 9))
ELSEWHERE = Shown("OP05", "RE010", "train.py", (4,))


def test_a_line_that_says_two_is_like_either() -> None:
    assert lost([AT_3], [OF_TWO]) == ()
    assert lost([AT_3], [ELSEWHERE]) == (AT_3,)
    assert lost([AT_3], [Shown("OP01", "RE010", "train.py", (3,))]) == (AT_3,)


def test_places_are_mapped_back() -> None:
    source = Source.of("a\nb\n").edited([Edit((0, 0), (0, 0), "x = 1\n")])
    facts = {
        "judgement": "broken",
        "shown": [["OP05", "RE010", "train.py", 3], ["OP01", "UM005", "", 0]],
        "doubted": [],
    }
    found = verdict("p", "static", facts, Project({"train.py": source}))
    assert [one.lines for one in found.shown] == [(2,), ()]


def compared(name: str, *after: Shown, state: str = SAME) -> Compared:
    return Compared(name, "", Verdict((AT_3,)), (Rewritten(ALL, state, "", Verdict(after)),))


def test_changed_verdicts_are_counted_over_what_does_the_same() -> None:
    results = [
        compared("a", AT_3),
        compared("b", ELSEWHERE),
        compared("c", state=NOT_COMPARABLE),
    ]
    assert [is_changed(one, one.rewrites[0]) for one in results[:2]] == [False, True]
    given = [Case(name, Path(), (), (), (ALL,)) for name in "abc"]
    card = scorecard(given, results, "static")
    assert card.name == "blind-static"
    assert card.measured["examples_all"].part == 1
    assert card.measured["examples_all"].whole == 2
    assert [goal.met for goal in card.goals] == [None, False, None]


def test_the_draw_is_repeated_and_of_opened_programs_with_no_notebook() -> None:
    found = drawn(20)
    assert [case.name for case in found] == [case.name for case in drawn(20)]
    assert len({case.name for case in found}) == 20
    assert all(not case.words[-1].endswith(".ipynb") for case in found)
    assert [case.name for case in drawn(20, 1)] != [case.name for case in found]
    assert {len(case.rewrites) for case in examples()} == {8}


def test_the_draw_is_the_same_on_a_machine_with_other_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = [case.name for case in drawn(60)]
    monkeypatch.setattr(cases, "find_spec", lambda name: None)
    bare = [case.name for case in drawn(60)]
    needy = {case.name for case in drawn_with_needs(here)}
    assert needy
    assert [name for name in here if name not in needy] == bare[: len(here) - len(needy)]


def drawn_with_needs(names: list[str]) -> list[Case]:
    by_name = {
        training.id: training for split in splits().values() for training in trainings_of(split)
    }
    return [cases.of_training(by_name[name], (ALL,)) for name in names if by_name[name].needs]


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("2", "prints"),
        ("1", ""),
        ("1 / 0", "ZeroDivisionError"),
        ("exit(3)", "exit 3"),
        ("sys.exit('no')", "exit 1"),
    ],
)
def test_a_program_that_prints_or_ends_otherwise_is_not_comparable(
    tmp_path: Path, new: str, says: str
) -> None:
    text = "import random, sys, time\nprint(random.random(), time.time(), 1)\n"
    (tmp_path / "train.py").write_text(text)
    case = Case("p", tmp_path, ("train.py",), ("train.py",), (ALL,))
    other = Project({"train.py": Source.of(text.replace(" 1)", f" {new})"))})
    difference = run(case).differs(run(case, other))
    assert says in difference
    assert bool(difference) == bool(says)
