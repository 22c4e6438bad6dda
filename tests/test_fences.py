"""One owner for each danger, and no word that nobody would search for.

A file that needs a fenced module asks its owner instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import words

ROOT = Path(__file__).parents[1] / "src" / "reenact"

OWNERS = {
    "subprocess": (
        "host_program.py",
        "sandbox/",
        "probe/",
        "trials/pool.py",
        "jobs.py",
        "llm/command.py",
        "cli/demo.py",
        "api/session.py",
    ),
    "multiprocessing": ("api/linting.py",),
    "socket": (
        "intake/web.py",
        "web/serve.py",
        "trials/ray.py",
        "probe/looks/listener.py",
    ),
    "ssl": ("llm/", "sandbox/environments/source.py"),
    "urllib.request": ("intake/web.py", "sandbox/environments/source.py"),
    "http.client": ("intake/web.py",),
    "requests": (),
    "httpx": (),
    "pickle": (),
    "marshal": (),
    "shelve": (),
    "tarfile": ("intake/archive.py", "sandbox/"),
    "zipfile": (
        "intake/archive.py",
        "sandbox/",
        "diagnosis/learned/",
        "probe/inject/reenact_probe/folder.py",
    ),
    "sqlite3": ("journal/",),
    "ctypes": (
        "intake/papers/inside/",
        "sandbox/",
        "probe/watch.py",
        "probe/looks/listener.py",
        "trials/inject/",
    ),
    "os.environ": (
        "settings.py",
        "redact.py",
        "own_process.py",
        "host_program.py",
        "cli/",
        "sandbox/",
        "probe/",
        "llm/",
        "intake/",
        "trials/",
        "testing/faults.py",
    ),
    "eval": (),
    "exec": ("bug/inside/", "claims/inside/", "trials/inject/"),
}
"""Module, `os.environ` or builtin: where it may be used, by file or start of the path."""


def sources() -> Iterator[tuple[str, Path]]:
    """Our files with their path in the package; programs that a demo shows are not ours to
    judge.
    """
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith("demo/cases/"):
            yield name, path


def used(tree: ast.AST) -> Iterator[str]:
    """Every fenced name that a file imports, reads or calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv"):
            yield "os.environ"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


@pytest.fixture(scope="module")
def uses() -> dict[str, set[str]]:
    """Fenced name to the files that use it."""
    files: dict[str, set[str]] = {name: set() for name in OWNERS}
    for name, path in sources():
        for use in used(ast.parse(path.read_text(encoding="utf-8"))):
            for fenced in OWNERS:
                if use == fenced or use.startswith(f"{fenced}."):
                    files[fenced].add(name)
    return files


@pytest.mark.parametrize("name", OWNERS)
def test_a_danger_has_one_owner(name: str, uses: dict[str, set[str]]) -> None:
    strangers = sorted(file for file in uses[name] if not file.startswith(OWNERS[name]))
    assert not strangers, f"{name} is used outside {OWNERS[name]}"


@pytest.mark.parametrize("name", OWNERS)
def test_every_owner_still_needs_what_it_owns(name: str, uses: dict[str, set[str]]) -> None:
    idle = [
        owner for owner in OWNERS[name] if not any(file.startswith(owner) for file in uses[name])
    ]
    assert not idle, f"no longer uses {name}: take it off the list"


def test_no_word_that_nobody_would_search_for() -> None:
    hits = [str(hit) for path in words.files([]) for hit in words.hits(path)]
    assert not hits, "\n".join(hits[:20])
