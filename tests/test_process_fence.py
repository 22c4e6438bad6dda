"""Nothing but the owner files starts a process: found in the syntax trees of all files of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src" / "reenact"
OWNERS = {
    "host_program.py": "starts every program on the host",
    "own_process.py": "becomes reenact itself",
    "api/linting.py": "forks itself to read many files; starts no program",
    "sandbox/tiers/reaper.py": "is process 1 of a box without namespaces; stands alone",
}
INJECTED = {
    "probe/inject": "runs in the user's program",
    "trials/inject": "runs in the user's interpreter: the fork server of the trials",
    "bug/inside": "runs in the sandbox",
    "demo/cases": "examples, which run in the sandbox or as the user's program",
}
STARTS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {
        "system",
        "popen",
        "fork",
        "forkpty",
        "posix_spawn",
        "posix_spawnp",
        *(f"exec{form}" for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *(f"spawn{form}" for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    },
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "asyncio.subprocess": {"create_subprocess_exec", "create_subprocess_shell"},
    "pty": {"spawn", "fork"},
    "multiprocessing": {"Process", "Pool", "Manager", "get_context"},
    "concurrent.futures": {"ProcessPoolExecutor"},
    "concurrent.futures.process": {"ProcessPoolExecutor"},
    "pexpect": {"spawn", "run"},
}
"""By module, what starts a process or forks this one."""


def annotations(tree: ast.Module) -> set[int]:
    """Every node of a type: `subprocess.Popen[bytes]` there starts nothing."""
    types: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg):
            types.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            types.append(node.returns)
    return {id(inner) for kind in types if kind is not None for inner in ast.walk(kind)}


def modules_named(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Local names and the modules that they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # `import a.b` binds `a` alone.
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in STARTS:
                    yield alias.asname or alias.name, full


def starts(text: str) -> list[str]:
    """What in a text could start a process, with its line."""
    tree = ast.parse(text)
    types = annotations(tree)
    named = dict(modules_named(tree))
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in STARTS:
            for alias in node.names:
                if alias.name in STARTS[node.module] or alias.name == "*":
                    found.append(f"{node.lineno}: from {node.module} import {alias.name}")
        elif isinstance(node, ast.Attribute) and id(node) not in types:
            dotted = ast.unparse(node.value)
            first, _, rest = dotted.partition(".")
            module = named.get(dotted) or ".".join(filter(None, (named.get(first, ""), rest)))
            if node.attr in STARTS.get(module, ()):
                found.append(f"{node.lineno}: {module}.{node.attr}")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "__import__"):
            words = [part.value for part in node.args if isinstance(part, ast.Constant)]
            if words and words[0] in {"subprocess", "pty", *STARTS["os"], *STARTS["subprocess"]}:
                found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.run(['ls'])",
        "import subprocess as s\nstart = s.Popen",
        "from subprocess import check_output",
        "from subprocess import *",
        "import os\nos.system('ls')",
        "import os\nos.execvp('ls', ['ls'])",
        "import os\nos.spawnl(0, 'ls')",
        "import os\nos.posix_spawn('ls', [], {})",
        "import os\nos.popen('ls')",
        "import asyncio\nasyncio.create_subprocess_exec('ls')",
        "import asyncio.subprocess\nasyncio.subprocess.create_subprocess_shell('ls')",
        "from asyncio import subprocess\nsubprocess.create_subprocess_shell('ls')",
        "import pty\npty.spawn('ls')",
        "import multiprocessing\nmultiprocessing.Process(target=print).start()",
        "from multiprocessing import get_context",
        "from concurrent.futures import ProcessPoolExecutor",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        "import concurrent.futures as f\nf.ProcessPoolExecutor()",
        "import subprocess\ngetattr(subprocess, 'x')\n__import__('subprocess')",
    ],
)
def test_every_way_to_start_a_process_is_seen(text: str) -> None:
    assert starts(text)


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\ndef f(p: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]: return p",
        "import subprocess\nout = subprocess.DEVNULL",
        "import subprocess\ntry: pass\nexcept subprocess.TimeoutExpired: pass",
        "import os\nos.kill(1, 9)",
    ],
)
def test_types_constants_and_errors_start_nothing(text: str) -> None:
    assert starts(text) == []


def test_only_the_owners_start_processes() -> None:
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        if name in OWNERS or any(name.startswith(f"{folder}/") for folder in INJECTED):
            continue
        if here := starts(path.read_text(encoding="utf-8")):
            found[name] = here
    assert found == {}


@pytest.mark.parametrize("owner", OWNERS)
def test_an_owner_that_starts_nothing_is_no_owner(owner: str) -> None:
    assert starts((SOURCES / owner).read_text(encoding="utf-8"))
