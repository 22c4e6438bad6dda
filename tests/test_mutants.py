"""scripts/mutants.py over a small package: what is edited, killed, survives, and is not done
twice.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import mutants
import pytest
from mutant_edits import edits_of
from mutant_runs import Limits, nearest_tests

FILE = "src/toy/judge.py"
JUDGE = '''\
"""Whether a number holds."""

LIMIT = 5


def holds(number: int) -> bool:
    """At most the limit."""
    return number <= LIMIT


def sentence(number: int) -> str:
    return f"{number} holds" if number > 3 else "no"
'''
WEAK = "from toy.judge import holds\n\ndef test_far_from_the_limit():\n    assert holds(1)\n"
STRONG = WEAK + "\ndef test_both_sides():\n    assert holds(5)\n    assert not holds(6)\n"
BROKEN = WEAK + "\ndef test_wrong():\n    assert holds(99)\n"
ENDLESS = """\
LEFT = 3


def count() -> int:
    left = LEFT
    while left > 0:
        left -= 1
    return left
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {
        FILE: JUDGE,
        "src/toy/__init__.py": "",
        "tests/toy_elsewhere/test_other.py": (
            "from toy.judge import holds\n\ndef test_other():\n    pass\n"
        ),
        "tests/test_judge.py": WEAK,
        ".gitignore": "build/\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--import-mode=importlib'\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    return tmp_path


def run(tree: Path, *words: str) -> tuple[int, str]:
    script = Path(mutants.__file__)
    line = [
        sys.executable,
        str(script),
        "--seed",
        "1",
        "--file",
        FILE,
        "--root",
        str(tree),
        *words,
    ]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended.returncode, ended.stdout


def rows(tree: Path) -> list[dict[str, object]]:
    return [
        json.loads(line) for line in (tree / "build" / "mutants-1.jsonl").read_text().splitlines()
    ]


@pytest.mark.release
def test_what_tests_do_not_notice_is_named_and_tried_again_when_they_change(
    tree: Path,
) -> None:
    code, output = run(tree)
    assert code == mutants.TOO_FEW
    timed, announced, *_ = output.splitlines()
    assert timed.endswith(
        "unedited  src/toy/judge.py: tests/test_judge.py tests/toy_elsewhere/test_other.py"
    )
    assert announced.startswith("4 edits to try: at most about ")
    assert (
        f"survived {FILE}:8 (boundary)\n-    return number <= LIMIT\n+    return number < LIMIT"
        in output
    )
    assert "    4       2         2  src/toy/judge.py" in output
    assert output.splitlines()[-1] == "    4       2         2  all: 50% killed, goal 90%"
    assert sorted(str(row["ending"]) for row in rows(tree)) == [
        "killed",
        "killed",
        "survived",
        "survived",
    ]
    assert (tree / FILE).read_text() == JUDGE, "the tree itself is not edited"

    (tree / "tests" / "test_judge.py").write_text(STRONG)
    code, output = run(tree)
    assert code == mutants.ENOUGH
    assert "2 edits to try" in output, "those that survived, not those that were killed"
    assert output.splitlines()[-1] == "    4       4         0  all: 100% killed, goal 90%"


@pytest.mark.release
def test_it_continues_where_it_was_stopped(tree: Path) -> None:
    run(tree)
    results = tree / "build" / "mutants-1.jsonl"
    first, second, third, _ = results.read_text().splitlines()
    results.write_text("\n".join([first, second, third, '{"key": "cut sho']) + "\n")
    _, output = run(tree)
    assert "1 edits to try" in output
    assert len(rows_without_the_cut_one(results)) == 4
    _, output = run(tree)
    assert "to try" not in output, "all is done, and the table is printed from the results"
    assert "all: 50% killed" in output


def rows_without_the_cut_one(results: Path) -> list[str]:
    return [line for line in results.read_text().splitlines() if "cut sho" not in line]


@pytest.mark.release
def test_a_changed_file_has_other_edits(tree: Path) -> None:
    run(tree)
    (tree / FILE).write_text(JUDGE.replace("LIMIT = 5", "LIMIT = 4"))
    _, output = run(tree)
    assert "4 edits to try" in output


@pytest.mark.release
def test_tests_that_fail_without_an_edit_prove_nothing(tree: Path) -> None:
    (tree / "tests" / "test_judge.py").write_text(BROKEN)
    code, output = run(tree)
    assert code == mutants.NOT_POSSIBLE
    assert "assert holds(99)" in output
    assert f"The tests of {FILE} fail without any edit: tests/test_judge.py" in output
    assert not (tree / "build").exists()


@pytest.mark.release
def test_a_file_that_no_test_imports_is_refused(tree: Path) -> None:
    (tree / "tests" / "test_judge.py").write_text("def test_nothing():\n    pass\n")
    (tree / "tests" / "test_judge.py").rename(tree / "tests" / "test_nothing.py")
    (tree / "tests" / "toy_elsewhere" / "test_other.py").unlink()
    code, output = run(tree)
    assert code == mutants.NOT_POSSIBLE
    assert f"No test imports {FILE}" in output


def test_a_loop_that_does_not_end_is_killed_by_its_limit(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / FILE).write_text(ENDLESS)
    (tree / "tests" / "test_judge.py").write_text(
        "from toy.judge import count\n\ndef test_count():\n    assert count() == 0\n"
    )
    (tree / "tests" / "toy_elsewhere" / "test_other.py").unlink()
    edit = next(edit for edit in edits_of(ENDLESS) if edit.new == "pass")
    mutant = mutants.Mutant(FILE, ENDLESS, edit)
    monkeypatch.setattr(
        Limits,
        "after",
        classmethod(lambda limits, seconds: limits(cpu_s=2, wall_s=900)),
    )
    campaign = mutants.Campaign(
        tree, {FILE: [mutant]}, mutants.Results(tree / "build" / "results.jsonl")
    )
    assert campaign.run(jobs=1)
    lines, share = mutants.table_of(campaign)
    assert share == 1
    assert (
        f"\nkilled by its time limit {FILE}:7 (statement)\n-        left -= 1\n+        pass"
        in lines
    )


def test_the_nearest_tests_come_first(tree: Path) -> None:
    table = {FILE: ("tests/test_named.py", "tests/test_missing.py")}
    (tree / "tests" / "test_named.py").write_text("def test_it():\n    pass\n")
    (tree / "tests" / "web").mkdir()
    (tree / "tests" / "web" / "test_far.py").write_text("import toy.judge\n")
    assert nearest_tests(tree, FILE, table) == [
        "tests/test_judge.py",
        "tests/test_named.py",
        "tests/toy_elsewhere/test_other.py",
    ]


EDITED = {
    "x = a < b": {"x = a <= b", "x = a >= b"},
    "x = a == b": {"x = a != b"},
    "x = a not in b": {"x = a in b"},
    "x = 3": {"x = 4"},
    "x = 0.5": {"x = 1.0", "x = 0.25"},
    "x = a and b": {"x = a or b"},
    "x = not a": {"x = (a)"},
    "x = a - b": {"x = a + b"},
    "x = min(a, b)": {"x = max(a, b)"},
    "x = any(a)": {"x = all(a)"},
    "x = (A, B)": {"x = (B,)", "x = (A,)"},
    "x = frozenset({A, B})": {"x = frozenset({B,})", "x = frozenset({A,})"},
    "x.append(a)": {"pass"},
    "x += a": {"pass"},
    "x = f(yes=True)": {"x = f(yes=False)"},
    "def f(a: int = 3) -> None: ...": {"def f(a: int = 4) -> None: ..."},
    "def f() -> bool:\n    return a": {"def f() -> bool:\n    return not (a)"},
    "def f() -> float:\n    return a": {"def f() -> float:\n    return (a) + 1"},
    "def f() -> Verdict:\n    return a": {"def f() -> Verdict:\n    return None"},
    "x = 'é'; y = a <= b": {"x = 'é'; y = a < b", "x = 'é'; y = a > b"},
    "x = [a for a in b if c]": {
        "x = [a for a in b if True]",
        "x = [a for a in b if False]",
        "x = [a for a in b if (not (c))]",
    },
    "for a in b:\n    if c:\n        continue\n    d": {
        "for a in b:\n    if True:\n        continue\n    d",
        "for a in b:\n    if False:\n        continue\n    d",
        "for a in b:\n    if (not (c)):\n        continue\n    d",
        "for a in b:\n    pass\n    d",
        "for a in b:\n    if c:\n        pass\n    d",
    },
}
UNTOUCHED = (
    '"""A text with 3 words."""',
    "import a",
    "x: Literal[3]",
    "def f(a: int) -> str:\n    return 'one' if a == 1 else 'many'",
    "x = f'{a:.3f} of {b + 1}'",
    "raise InputError(f'{a} is more than 3', code=4)",
    "log('text')",
    "@dataclass(frozen=True)\nclass A: ...",
    "a, b = c, d",
    "if TYPE_CHECKING:\n    pass",
    "x = 'a sentence'",
)


@pytest.mark.parametrize("text", EDITED)
def test_edits_of_a_line(text: str) -> None:
    assert {edit.applied(text) for edit in edits_of(text)} == EDITED[text]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_decides_nothing_is_not_edited(text: str) -> None:
    assert [edit.applied(text) for edit in edits_of(text)] == []


@pytest.mark.release
def test_every_file_that_decides_a_verdict_has_enough_edits() -> None:
    files = mutants.files_of(mutants.ROOT)
    assert "src/reenact/paper/measure/gap.py" in files
    assert "src/reenact/paper/measure/curves.py" not in files
    for file in files:
        edits = [mutant.edit for mutant in mutants.drawn(mutants.ROOT, file, 0, mutants.PER_FILE)]
        assert len(set(edits)) == mutants.PER_FILE, file
        assert nearest_tests(mutants.ROOT, file, mutants.NEAREST), file


@pytest.mark.release
def test_a_seed_draws_the_same_edits_and_another_one_others() -> None:
    file = mutants.FILES[1]
    first = mutants.drawn(mutants.ROOT, file, 1, 20)
    assert mutants.drawn(mutants.ROOT, file, 1, 20) == first
    assert mutants.drawn(mutants.ROOT, file, 2, 20) != first
