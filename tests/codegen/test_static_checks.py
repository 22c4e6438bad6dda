"""What reading finds in generated code, and how a problem is worded."""

from __future__ import annotations

from reenact.codegen.environment import Environment
from reenact.codegen.project import Problem, Project, last_output, problems_text
from reenact.codegen.static_checks import (
    does_not_parse,
    lint,
    missing_modules,
    unparsed_files,
    unresolved_imports,
)
from reenact.codegen.syntax import parsed


def test_a_place_is_a_file_a_line_both_or_neither() -> None:
    assert str(Problem("reading", "Wrong.", "a.py", 3)) == "a.py:3: Wrong."
    assert str(Problem("reading", "Wrong.", "a.py")) == "a.py: Wrong."
    assert str(Problem("reading", "Wrong.", line=3)) == "line 3: Wrong."
    assert str(Problem("reading", "Wrong.")) == "Wrong."


def test_the_same_mistake_has_the_same_signature() -> None:
    one, other = (Problem("running", f"IndexError: index {n} of size 3", "a.py", n) for n in (4, 7))
    assert one.signature == other.signature
    assert one.signature != Problem("running", "IndexError: index 4 of size 3", "b.py", 4).signature


def test_a_model_gets_every_problem_and_what_was_printed() -> None:
    problems = (
        Problem("reading", "Wrong."),
        Problem("running", "Broken.", output="Traceback"),
    )
    assert problems_text(problems) == "- while reading: Wrong.\n- while running: Broken."
    assert (problems_text(()), last_output(()), last_output(problems)) == (
        "none",
        "nothing",
        "Traceback",
    )


def test_text_that_is_no_python() -> None:
    assert parsed("x = (") is None
    assert does_not_parse("parse", "x = 1\n") is None
    assert (
        str(does_not_parse("parse", "x = (\n"))
        == "line 1: It does not parse: '(' was never closed."
    )
    assert [
        one.file for one in unparsed_files("parse", Project({"a.py": "x = (", "b.md": "x = ("}))
    ] == ["a.py"]


def test_plain_errors_of_one_file() -> None:
    assert [str(one) for one in lint("static", "print(nobody)\n")] == [
        "line 1: Undefined name `nobody` (F821)"
    ]


def test_shapes_in_annotations_are_no_errors() -> None:
    text = 'from jaxtyping import Float\ndef f(x: Float[object, "rows columns"]) -> None: ...\n'
    assert list(lint("reading", text)) == []


def test_imports_of_the_project_and_from_outside() -> None:
    project = Project({"a.py": "from b import nothing\nimport b.c\n", "b.py": "x = 1\n"})
    assert [str(one) for one in unresolved_imports("static", project)] == [
        "a.py:1: `b` has no `nothing` to import.",
        "a.py:2: There is no project module `b.c`.",
    ]
    lacking = Environment("python", (), "key", (), ("c",), ("c==1",), ("Not built.",))
    assert [one.sentence for one in missing_modules("static", lacking)] == [
        "The module `c` cannot be imported here. Proposed: c==1. Not built."
    ]
