"""A crash is judged by class, file, function and line; its message only supports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from reenact.bug.crash import (
    Likeness,
    likeness,
    project_path,
    reported_crashes,
    says,
    wordings,
)
from reenact.bug.project_files import ProjectFiles, project_files
from reenact.bug.reproduction import Verdict
from reenact.bug.script_runner import Frame, RunObservation
from reenact.bug.symptom import Explicit
from reenact.llm.scripted import Scripted
from reenact.sandbox.box import Ending

SCORES = '''"""Scores."""


def best(values, mode):
    if mode not in ("max", "min"):
        raise ValueError(f"the mode {mode} is not known here")
    if values:
        winner = max(values)
    return winner


def total(
    values,
):
    return sum(
        values,
    ) / len(values)
'''
TRACEBACK = """It fails

> Traceback (most recent call last):
>   File "train.py", line 3, in <module>
>     best([], "max")
>   File "/home/me/env/lib/python3.10/site-packages/acme/scores.py", line {line}, in best
>     {text}
> {last}

Please help: ValueError: not of a traceback.
"""
UNBOUND = "UnboundLocalError: local variable 'winner' referenced before assignment"


@pytest.fixture
def files(tmp_path: Path) -> ProjectFiles:
    folder = tmp_path / "checkout" / "src" / "acme"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from acme.scores import best\n")
    (folder / "scores.py").write_text(SCORES)
    (folder.parents[1] / "tool.py").write_text("LIMIT = 1\n")
    return project_files(tmp_path / "checkout")


def report(line: int = 9, text: str = "return winner", last: str = UNBOUND) -> str:
    return TRACEBACK.format(line=line, text=text, last=last)


def seen(
    message: str,
    name: str = "UnboundLocalError",
    line: int = 9,
    function: str = "best",
    *,
    refused: bool = False,
) -> RunObservation:
    frame = Frame("project", "src/acme/scores.py", line, function, function)
    return RunObservation(
        Ending.OK,
        ended="raised",
        classes=(name, "Exception"),
        message=message,
        frames=(frame,),
        blamed="project",
        refused=refused,
    )


def like(text: str, one: RunObservation, files: ProjectFiles, reported: Explicit) -> Likeness:
    return likeness(reported, reported_crashes(text, files), one, files)


def test_a_traceback_is_read_to_its_innermost_frame_in_the_project(files: ProjectFiles) -> None:
    (crash,) = reported_crashes(report(), files)
    assert (crash.exception, crash.message) == tuple(UNBOUND.split(": "))
    assert (crash.file, crash.line) == (PurePosixPath("src/acme/scores.py"), 9)
    assert (crash.function, crash.text) == ("best", "return winner")


def test_a_traceback_of_other_code_says_nothing(files: ProjectFiles) -> None:
    foreign = report().replace("site-packages/acme/", "site-packages/other/")
    assert reported_crashes(foreign, files) == ()
    assert reported_crashes("acme/scores.py:9: UnboundLocalError", files) == ()
    assert reported_crashes(report().replace(UNBOUND, ""), files) == ()


def test_code_that_looks_like_an_exception_does_not_end_a_traceback(files: ProjectFiles) -> None:
    (crash,) = reported_crashes(report(text="Scores: list"), files)
    assert crash.exception == "UnboundLocalError"


@pytest.mark.parametrize(
    ("reported", "found"),
    [
        ("/home/me/site-packages/acme/scores.py", "src/acme/scores.py"),
        ("acme/scores.py", "src/acme/scores.py"),
        ("C:/Users/me/acme/scores.py", "src/acme/scores.py"),
        ("/home/me/other/scores.py", None),
        ("scores.py", None),
        ("/home/me/checkout/tool.py", "tool.py"),
        ("/lib/site-packages/tool.py", "tool.py"),
        ("/lib/site-packages/numpy/tool.py", None),
    ],
)
def test_a_path_of_another_machine(files: ProjectFiles, reported: str, found: str | None) -> None:
    wanted = PurePosixPath(found) if found is not None else None
    assert project_path(PurePosixPath(reported), files) == wanted


@pytest.mark.parametrize(
    ("line", "text", "at", "function", "is_there"),
    [
        (9, "return winner", 9, "best", True),
        (70, "return winner", 9, "best", True),
        (9, "winner = max(values)", 9, "best", False),
        (9, "return winner", 9, "total", False),
        (9, "", 9, "best", True),
        (8, "", 9, "best", False),
        (17, "values,", 16, "total", False),
        (15, "return sum(", 17, "total", True),
    ],
)
def test_the_text_of_a_line_decides_before_its_number(
    files: ProjectFiles, line: int, text: str, at: int, function: str, is_there: bool
) -> None:
    words = report(line, text).replace("in best", "in total" if "sum" in text else "in best")
    (crash,) = reported_crashes(words, files)
    frame = Frame("project", "src/acme/scores.py", at, function, function)
    assert crash.is_at(frame, files) is is_there


WORDS = Explicit(
    exception="UnboundLocalError", message="local variable 'winner' referenced before assignment"
)
NEW = "cannot access local variable 'winner' where it is not associated with a value"


def test_another_wording_of_the_interpreter_is_the_same(files: ProjectFiles) -> None:
    assert like("No traceback.", seen(NEW), files, WORDS) is Likeness.SAME
    loser = NEW.replace("winner", "loser")
    assert like("No traceback.", seen(loser), files, WORDS) is Likeness.OTHER
    assert like("No traceback.", seen(NEW, "NameError"), files, WORDS) is Likeness.OTHER


def test_another_message_at_the_reported_place_is_that_place(files: ProjectFiles) -> None:
    other = seen("something new about the value")
    assert like(report(), other, files, WORDS) is Likeness.PLACE
    assert like(report(70), other, files, WORDS) is Likeness.PLACE, "the line moved"
    assert like("No traceback.", other, files, WORDS) is Likeness.OTHER
    assert like(report(), seen("something new", line=8), files, WORDS) is Likeness.OTHER
    refused = seen("something new about the value", refused=True)
    assert like(report(), refused, files, WORDS) is Likeness.OTHER


REFUSES = 'raise ValueError(f"the mode {mode} is not known here")'
MODE = Explicit(exception="ValueError", message="the mode sum is not known here")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("the mode sum is not known here", Likeness.SAME),
        ("the mode mean is not known here", Likeness.SAME),
        ("a mode is needed", Likeness.OTHER),
    ],
)
def test_the_words_written_for_a_raise_must_be_those(
    files: ProjectFiles, message: str, expected: Likeness
) -> None:
    words = report(6, REFUSES, f"ValueError: {MODE.message}")
    one = seen(message, "ValueError", 6, refused=True)
    assert like(words, one, files, MODE) is expected


@pytest.mark.parametrize(
    ("reported", "message", "is_equal"),
    [
        ("index 5 is out of bounds", "Index 7 is out of bounds for axis 0", True),
        ("no such file: /home/me/a.bin", "No such file: /tmp/x/b.bin", True),
        ("got * of 3", "it got 2 of 9", False),
        ("needs * of 3 items", "it needs 2 of 9 items", True),
        ("index 5 is out of bounds", "index 5 is out of range", False),
        ("5", "7", False),
        ("abcde 5", "abcde 7", False),
        ("abcdef 5", "abcdef 7", True),
    ],
)
def test_values_and_paths_do_not_count(reported: str, message: str, is_equal: bool) -> None:
    assert says(reported, message) is is_equal


def _unbound() -> object:
    if not __name__:
        value = 1
    return value


def _free() -> object:
    def inner() -> object:
        return value

    found = inner()
    value = 1
    return found, value


class _Fixed:
    @property
    def size(self) -> int:
        return 1


def _set() -> None:
    _Fixed().size = 2  # type: ignore[misc]


def _delete() -> None:
    del _Fixed().size  # type: ignore[misc]


@pytest.mark.parametrize(
    ("older", "raises"),
    [
        ("local variable 'value' referenced before assignment", _unbound),
        ("free variable 'value' referenced before assignment in enclosing scope", _free),
        ("can't set attribute", _set),
        ("can't set attribute 'size'", _set),
        ("can't delete attribute 'size'", _delete),
        ("integer division or modulo by zero", lambda: 1 % 0),
        ("isinstance() arg 2 must be a type or tuple of types", lambda: isinstance(1, 2)),
    ],
)
def test_what_this_interpreter_says_is_known_in_older_words(
    older: str, raises: Callable[[], object]
) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is, by its words
        raises()
    name = type(caught.value).__name__
    assert any(says(one, str(caught.value)) for one in wordings(name, older)), caught.value
    assert any(says(one, older) for one in wordings(name, str(caught.value))), "and back"


def test_what_this_numpy_says_is_known_in_older_words() -> None:
    import numpy

    with pytest.raises(TypeError) as caught:
        float(numpy.ones(2))
    older = "only size-1 arrays can be converted to Python scalars"
    assert any(says(one, str(caught.value)) for one in wordings("TypeError", older))


def test_what_this_torch_says_is_known_in_older_words(warm_python: Any) -> None:
    import torch

    with pytest.raises(RuntimeError) as caught:
        torch.ones(2, 3) @ torch.ones(4, 5)
    older = "size mismatch, m1: [2 x 3], m2: [4 x 5]"
    assert any(says(one, str(caught.value)) for one in wordings("RuntimeError", older))


# The whole way.

SHOWS = "from acme.scores import best\n\nbest([], 'max')\n"
REFUSED = "from acme.scores import best\n\nbest([], 'sum')\n"
SYMPTOM = {
    "kind": "explicit",
    "sign": "crash",
    "words": "best fails without values.",
    "explicit": {"exception": "UnboundLocalError", "message": WORDS.message},
}
FIRST = "bug/context[0]/attempt[0]/script"
SECOND = "bug/context[0]/attempt[1]/revise"


def project(toy: Any) -> None:
    package = toy.folder / "buggy" / "acme"
    (package / "scores.py").write_text(SCORES)
    fixed = SCORES.replace("    if values:\n", "    winner = None\n    if values:\n")
    fixed = fixed.replace("not known here", "not known here any more")
    (toy.folder / "fixed" / "acme" / "scores.py").write_text(fixed)


def asked(script: str, symptom: Any = SYMPTOM, second: Any = None) -> Scripted:
    answers = {
        "bug/restructure": {"title": "t", "observed": "o", "expected": "e", "steps": []},
        "bug/symptom": symptom,
        "bug/context[0]/plan": {"idea": "i", "steps": ["s"], "closing": "c"},
        FIRST: {"script": script},
    }
    return Scripted(answers if second is None else {**answers, SECOND: second})


@pytest.mark.parametrize("fixed", [False, True])
def test_a_report_from_an_older_interpreter_is_reproduced(toy: Any, fixed: bool) -> None:
    """Its traceback was printed by Python 3.10; the message has other words since 3.11."""
    project(toy)
    found = toy.reproduce({}, model=asked(SHOWS), report=report(), fixed=fixed)
    assert found.verdict is Verdict.REPRODUCED, found.reason
    assert len(found.attempts) == 1


def test_another_message_at_the_reported_line_is_only_shown(toy: Any) -> None:
    project(toy)
    odd = {"exception": "UnboundLocalError", "message": "the winner was never chosen by anybody"}
    words = report(last=f"UnboundLocalError: {odd['message']}")
    model = asked(SHOWS, {**SYMPTOM, "explicit": odd})
    found = toy.reproduce({}, model=model, report=words)
    assert found.verdict is Verdict.SHOWN, found.reason
    assert "its message says something else" in found.reason


def test_another_place_than_the_reported_one_is_only_shown(toy: Any) -> None:
    """The report's traceback ends in best; the script reaches the same words elsewhere."""
    project(toy)
    scores = toy.folder / "buggy" / "acme" / "scores.py"
    scores.write_text(
        f"{SCORES}\n\ndef worst(values):\n    if values:\n        winner = 1\n    return winner\n"
    )
    script = "from acme.scores import worst\n\nworst([])\n"
    found = toy.reproduce({}, model=asked(script), report=report())
    assert found.verdict is Verdict.SHOWN, found.reason
    assert "not at acme/scores.py in best" in found.reason
    gone = report(text="return winner[0]")
    kept = toy.reproduce({}, model=asked(script + "\n"), report=f"worst fails\n{gone}")
    assert kept.verdict is Verdict.REPRODUCED, "the reported line is not in this revision"


@pytest.mark.parametrize("fixed", [False, True])
def test_a_refusal_in_other_words_is_shown_only_where_the_model_claims_it(
    toy: Any, fixed: bool
) -> None:
    project(toy)
    words = report(6, REFUSES, "ValueError: there is no such way to compare")
    spelled = {"exception": "ValueError", "message": "there is no such way to compare"}
    symptom = {**SYMPTOM, "explicit": spelled}
    if fixed:
        other = toy.folder / "fixed" / "acme" / "scores.py"
        other.write_text(other.read_text().replace('("max", "min")', '("max", "min", "sum")'))
    alone = toy.reproduce({}, model=asked(REFUSED, symptom), report=words, attempts=1, fixed=fixed)
    assert alone.verdict is Verdict.INCONCLUSIVE, alone.reason
    claim = {"is_it": "the words were changed since"}
    model = asked(REFUSED + "\n", symptom, claim)
    claimed = toy.reproduce({}, model=model, report=words, attempts=2, fixed=fixed)
    assert claimed.verdict is Verdict.SHOWN, claimed.reason
    assert "is what the model says" in claimed.reason
    assert ("none on the fixed revision" in claimed.reason) is fixed
