"""The shipped bug cases are what their folder format says, and a malformed folder is a sentence."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bugs.cases import BugCase, Kind, load_cases, unpack
from reenact.bug.reproduction import Verdict
from reenact.errors import InputError
from reenact.sandbox.repository import run_git

pytestmark = pytest.mark.release

CASES = load_cases()
LEAST_LINES = 600
WANTED = {
    "shape error",
    "wrong default",
    "silent NaN",
    "ignored argument",
    "parameter without gradient",
    "wrong loss reduction",
    "state leak between calls",
    "seed not respected",
    "dtype",
    "device",
    "off-by-one in a scheduler",
    "evaluation in train mode",
}


def by_id(case: BugCase) -> str:
    return case.id


def files_of(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_the_catalogue_holds_every_kind_of_bug() -> None:
    there = [case for case in CASES if case.expected is Verdict.REPRODUCED]
    assert {case.bug for case in there} >= WANTED
    assert Counter(case.kind for case in there)[Kind.SILENT] >= 4
    assert len(CASES) - len(there) >= 2
    assert {case.packages[0] for case in CASES} == {"keras", "numpy", "torch"}


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_a_project_is_large_enough_and_its_fix_is_small(case: BugCase, tmp_path: Path) -> None:
    buggy = files_of(unpack(case, case.buggy, tmp_path))
    lines = sum(content.count(b"\n") for name, content in buggy.items() if name.endswith(".py"))
    assert lines >= LEAST_LINES
    if case.fixed is None:
        return
    fixed = files_of(unpack(case, case.fixed, tmp_path))
    assert buggy.keys() == fixed.keys()
    changed = {name for name in buggy if buggy[name] != fixed[name]}
    assert {name.startswith("tests/") for name in changed} == {True, False}
    assert len(changed) <= 3


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_a_report_names_no_file(case: BugCase, tmp_path: Path) -> None:
    names = files_of(unpack(case, case.buggy, tmp_path))
    modules = {name.removesuffix(".py").replace("/", ".") for name in names if name.endswith(".py")}
    dotted = {module.removeprefix("src.") for module in modules if "." in module}
    hidden = {*names, *(Path(name).name for name in names), *dotted} - {"__init__.py"}
    assert [name for name in hidden if name in case.report] == []
    assert ".py" not in case.report


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_a_bundle_is_whole_small_and_by_nobody(case: BugCase, tmp_path: Path) -> None:
    git = tmp_path / ".git"
    run_git(git, tmp_path, ("init", "--quiet", "--template="), wall_s=60)
    bundle = str(case.bundle)
    run_git(git, tmp_path, ("bundle", "verify", "--quiet", bundle), wall_s=60)
    fetch = ("fetch", "--quiet", "--", bundle, "refs/heads/main:refs/heads/main")
    run_git(git, tmp_path, fetch, wall_s=60, allow="file")
    log = run_git(git, tmp_path, ("log", "--format=%H %an %ae %cn %ce", "main"), wall_s=60).decode()
    commits = dict(line.split(" ", 1) for line in log.splitlines())
    author = "Maintainer maintainer@example.org"
    assert set(commits.values()) == {f"{author} {author}"}
    assert set(case.revisions) <= commits.keys()
    assert next(iter(commits)) == case.revisions[-1]
    assert case.bundle.stat().st_size < 64 * 1024


def copied(into: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Path:
    """A folder with one shipped case in it, its facts changed."""
    case = CASES[0]
    folder = into / case.id
    shutil.copytree(case.folder, folder)
    facts = json.loads((folder / "case.json").read_text())
    change(facts)
    (folder / "case.json").write_text(json.dumps(facts))
    return folder


def test_a_folder_of_the_users_is_read(tmp_path: Path) -> None:
    copied(tmp_path)
    (tmp_path / "notes").mkdir()
    (case,) = load_cases(tmp_path)
    assert case.id == CASES[0].id
    assert case.report == CASES[0].report


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "another"}, "not the name of the folder"),
        ({"kind": "loud"}, "wrong at kind"),
        ({"buggy": "main"}, "wrong at buggy"),
        ({"fixed": None}, "fixed commit"),
        ({"expected": "inconclusive"}, "true verdict is one of"),
        ({"fault": "gremlins"}, "no fault class 'gremlins'"),
        ({"symptom": "smoke"}, "no symptom class 'smoke'"),
        ({"packages": ["../torch"]}, "wrong at packages"),
        ({"imports_from": "../outside"}, "wrong at imports_from"),
        ({"seconds": -1}, "wrong at seconds"),
        ({"colour": "red"}, "wrong at colour"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_facts_are_a_sentence(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    copied(tmp_path, lambda facts: facts.update(change))
    with pytest.raises(InputError, match=message):
        load_cases(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("case.json", b"{", "no JSON"),
        ("case.json", b"[]", "one JSON object"),
        ("report.md", b" \n", "report.md is empty"),
        ("report.md", b"\xff\xfe", "no readable report.md"),
        ("oracle.py", b"", "oracle.py is empty"),
        ("oracle.py", None, "no readable oracle.py"),
        ("project.bundle", b"PK", "no git bundle"),
        ("report.md", b"x" * 1_100_000, "more than"),
    ],
)
def test_wrong_files_are_a_sentence(
    file: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    folder = copied(tmp_path)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_cases(tmp_path)


def test_no_folder_and_no_case(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder of bug cases"):
        load_cases(tmp_path / "nothing")
    with pytest.raises(InputError, match="holds no bug case"):
        load_cases(tmp_path)


def test_a_commit_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no commit or branch"):
        unpack(CASES[0], "0" * 40, tmp_path)
