"""scripts/structure.py over small trees: sizes, circles, packing patterns and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
import structure
from structure_imports import Kind, circles_of, floors_of, imports_of, knots
from structure_names import STILL_SHARED, classes_used_twice
from structure_patterns import NAMES, hits_of
from structure_tree import modules_of

SOUND = {
    "__init__.py": "",
    "version.py": "VERSION = 1\n",
    "ground/__init__.py": '"""The ground."""\n',
    "ground/numbers.py": "ONE = 1\n",
    "roof/__init__.py": "from ..ground import numbers\nfrom ..ground.numbers import ONE\n",
}

COMMENTED = """\
'''Two
lines.'''

# Why.
A = 1  # one
'''What A is.'''


def f():
    '''It.'''

    return (
        A
    )
"""


def written(folder: Path, files: dict[str, str]) -> Path:
    root = folder / "toy"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def circles(folder: Path, files: dict[str, str]) -> dict[Kind, list[list[str]]]:
    imports = imports_of(modules_of(written(folder, files)))
    return {kind: circles_of(imports, kind) for kind in Kind}


def patterns(folder: Path, text: str) -> list[tuple[str, str]]:
    return [
        (hit.pattern, hit.place) for hit in hits_of(modules_of(written(folder, {"one.py": text})))
    ]


def test_blank_lines_comments_and_docstrings_are_no_code(tmp_path: Path) -> None:
    (module,) = modules_of(written(tmp_path, {"one.py": COMMENTED}))
    assert module.code_lines == 5


def test_every_line_of_a_text_that_is_a_value_is_code(tmp_path: Path) -> None:
    (module,) = modules_of(written(tmp_path, {"one.py": 'A = """a\n\n\n"""\n'}))
    assert module.code_lines == 4


def test_nodes_are_those_of_the_syntax_tree(tmp_path: Path) -> None:
    (module,) = modules_of(written(tmp_path, {"one.py": "a = 1\n"}))
    # Module, Assign, Name, Store, Constant.
    assert module.nodes == 5


def test_what_a_demo_shows_is_not_counted(tmp_path: Path) -> None:
    root = written(tmp_path, {"__init__.py": "", "demo/cases/train.py": "a, b, c = 1, 2, 3\n"})
    assert [module.file for module in modules_of(root)] == ["__init__.py"]


def test_a_circle_counts_from_the_latest_import_it_needs(tmp_path: Path) -> None:
    files = {
        "a.py": "from toy import b\n",
        "b.py": "def f():\n    from toy.a import b\n",
        "c.py": "import toy.d\n",
        "d.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toy import c\n",
    }
    found = circles(tmp_path, files)
    assert found[Kind.TOP] == []
    assert found[Kind.INSIDE] == [["toy.a", "toy.b"]]
    assert found[Kind.TYPES] == [["toy.a", "toy.b"], ["toy.c", "toy.d"]]


def test_what_stands_in_the_else_of_type_checking_is_imported(tmp_path: Path) -> None:
    files = {
        "a.py": "import typing\nif typing.TYPE_CHECKING:\n    pass\nelse:\n    from toy import b\n",
        "b.py": "from . import a\n",
    }
    assert circles(tmp_path, files)[Kind.TOP] == [["toy.a", "toy.b"]]


@pytest.mark.parametrize("call", ["import_module('toy.a')", "importlib.import_module('toy.a')"])
def test_an_import_by_name_closes_a_circle_too(tmp_path: Path, call: str) -> None:
    files = {"a.py": "from toy.b import f\n", "b.py": f"def f():\n    return {call}\n"}
    found = circles(tmp_path, files)
    assert found[Kind.TOP] == []
    assert found[Kind.INSIDE] == [["toy.a", "toy.b"]]


def test_relative_imports_are_followed_from_packages_and_from_files(
    tmp_path: Path,
) -> None:
    imports = imports_of(modules_of(written(tmp_path, SOUND)))
    assert {(each.source, each.target, each.place) for each in imports} == {
        ("toy.roof", "toy.ground.numbers", "roof/__init__.py:1"),
        ("toy.roof", "toy.ground.numbers", "roof/__init__.py:2"),
    }


def test_knots_keep_what_only_hangs_on_a_circle_apart() -> None:
    graph = {"in": {"a"}, "a": {"b"}, "b": {"c", "out"}, "c": {"a"}}
    assert set(knots(graph)) == {
        frozenset("abc"),
        frozenset({"in"}),
        frozenset({"out"}),
    }


def test_floors_are_the_longest_way_down_and_a_circle_is_on_one() -> None:
    graph = {"roof": {"a", "ground"}, "a": {"b"}, "b": {"a", "ground"}}
    assert floors_of(graph, ["attic"]) == {
        "attic": 0,
        "ground": 0,
        "a": 1,
        "b": 1,
        "roof": 2,
    }


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("merged-literal", "d = {1: 2}\nd |= {3: 4}\n"),
        (
            "merged-literal",
            "self.d: dict = {k: 1 for k in x}\nprint()\nself.d |= {3: 4}\n",
        ),
        (
            "words",
            "def listed(text): return frozenset(text.split())\nA = listed('a b')\n",
        ),
        ("words", "\nA = 'a b'.split()\n"),
        ("three-at-once", "\na, b, c = 1, 2, 3\n"),
        ("three-at-once", "\na, b, *c = [1, 2, 3]\n"),
        ("three-at-once", "\na, b, c = range(3)\n"),
        ("three-at-once", "\na, b, c = (x for x in y)\n"),
        ("three-at-once", "\na = b = c = 0\n"),
        ("boolean-length", "\na = [1] * (x in y)\n"),
        ("boolean-length", "\na = (not x) * (1,)\n"),
        ("boolean-length", "\na = [1] * isinstance(x, int)\n"),
        ("nested-conditional", "\na = 1 if b else 2 if c else 3\n"),
        ("nested-conditional", "\na = [1 if b else f(2 if c else 3)]\n"),
        ("attribute-path", "class A:\n    JSON = ('a', 'b=c.d')\n"),
        ("attribute-path", "class A:\n    JSON: ClassVar = ('a', 'b=c.d')\n"),
        ("attribute-path", "\na = attrgetter('b.c')\n"),
        ("merged-arguments", "\nf(**(a | b))\n"),
        ("locals", "\nf(locals())\n"),
        ("locals", "\nf(**locals())\n"),
    ],
)
def test_a_pattern_is_found_where_it_is(tmp_path: Path, pattern: str, text: str) -> None:
    last = len(text.splitlines())
    assert patterns(tmp_path, text) == [(pattern, f"one.py:{last}")]


@pytest.mark.parametrize(
    "text",
    [
        "d = {1: 2}\nif x:\n    d |= {3: 4}\n",
        "d = {1}\nd |= {3}\n",
        "d = {1: 2}\nd |= other\n",
        "A = line.split()\n",
        "A = 'a,b'.split(',')\n",
        "def listed(text): return text.upper()\nA = listed('a b')\n",
        "a, b = 1, 2\n",
        "a, b, c = measured()\n",
        "a = b = 0\n",
        "a = [0] * n\n",
        "a = 2 * (x > 1)\n",
        "a = 1 if b else 2\nc = 1 if d else 2\n",
        "class A:\n    JSON: ClassVar[tuple[str, ...]]\n",
        "a = attrgetter(name)\n",
        "f(**a, **b)\n",
        "names = 'locals() words(a b) JSON = x'\n",
    ],
)
def test_what_only_resembles_a_pattern_is_not_one(tmp_path: Path, text: str) -> None:
    assert patterns(tmp_path, text) == []


def test_a_sound_tree_exits_0_and_is_shown_by_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = written(tmp_path, SOUND)
    assert structure.main(["--root", str(root)]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line}
    # Files, code lines, nodes, density, floor, floors, patterns.
    assert rows["roof"] == ["1", "2", "5", "2.5", "1", "1", "0"]
    assert rows["ground"] == ["2", "1", "8", "8.0", "0", "1", "0"]
    assert rows["(top)"][:2] == ["2", "1"]
    assert "circles, imports + for types only: 0" in lines
    assert "floors: 2" in lines


@pytest.mark.parametrize(
    "text", ["a, b, c = 1, 2, 3\n", "from toy import roof\n"], ids=["pattern", "circle"]
)
def test_a_pattern_or_a_circle_exits_1(tmp_path: Path, text: str) -> None:
    assert (
        structure.main(["--root", str(written(tmp_path, SOUND | {"ground/numbers.py": text}))]) == 1
    )


def test_places_are_listed_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = written(
        tmp_path,
        SOUND | {"ground/numbers.py": "ONE = 1\nf(locals())\na, b, c = 1, 2, 3\n"},
    )
    assert structure.main(["--root", str(root), "--list", "locals"]) == 1
    assert capsys.readouterr().out == "ground/numbers.py:2: locals\n"
    structure.main(["--root", str(root), "--list", "all"])
    assert capsys.readouterr().out.splitlines() == [
        "ground/numbers.py:2: locals",
        "ground/numbers.py:3: three-at-once",
    ]


def test_a_circle_is_listed_with_what_closes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = "def f():\n    from toy import roof\n"
    structure.main(
        [
            "--root",
            str(written(tmp_path, SOUND | {"ground/numbers.py": late})),
            "--list",
            "circles",
        ]
    )
    assert capsys.readouterr().out.splitlines() == [
        "2 files, imports + inside functions: toy.ground.numbers, toy.roof",
        "    ground/numbers.py:2: toy.ground.numbers imports toy.roof",
    ]


def test_another_tree_is_measured_the_same_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = written(tmp_path, SOUND)
    structure.main(["--root", str(root), "--beside", str(root), "again"])
    rows = {
        line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line
    }
    assert rows["again"][:4] == rows["all"][:4]
    # The four that are recorded stand below it.
    assert [rows[name][3] for name in structure.OTHERS] == ["6.8", "6.6", "6.9", "6.4"]


def test_a_folder_that_is_not_there_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert structure.main(["--root", str(tmp_path / "none")]) == 2
    assert "There is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_is_one_of_the_choices(name: str) -> None:
    assert structure.options().parse_args(["--list", name]).list == name


TWICE = {
    "ground/__init__.py": "",
    "ground/plan.py": "class Plan:\n    pass\n\n\nclass Own:\n    pass\n",
    "roof/__init__.py": "from toy.roof.plan import Plan\n",
    "roof/plan.py": "class Plan:\n    pass\n\n\nclass Own:\n    pass\n",
    "sides.py": "from toy.ground.plan import Plan\nfrom toy.roof import Plan as Other\n",
}


def test_a_class_name_that_two_folders_give_others_is_used_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = written(tmp_path, {"__init__.py": "", **TWICE})
    used = classes_used_twice(modules_of(root))
    places = {name: [one.place for one in classes] for name, classes in used.items()}
    assert places == {"Plan": ["ground/plan.py:1", "roof/plan.py:1"]}, "Own is nobody else's"
    assert structure.main(["--root", str(root)]) == 1
    assert "new among them: Plan" in capsys.readouterr().out
    assert structure.main(["--root", str(root), "--list", "class-names"]) == 1
    assert "Plan: ground/plan.py:1, roof/plan.py:1" in capsys.readouterr().out


def test_what_may_still_be_used_twice_is() -> None:
    """A name that became unique leaves the list; no further name is used twice."""
    assert classes_used_twice(modules_of(structure.ROOT)).keys() == STILL_SHARED
