"""Nothing but the owner files starts a process: found in the syntax trees of all files of the
package, and while all tests run by an audit hook (process_owners.py).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import pytest

import process_owners
from process_owners import OWNERS, is_owner

SOURCES = process_owners.SOURCES
STARTS = {
    "subprocess": {
        "Popen",
        "run",
        "call",
        "check_call",
        "check_output",
        "getoutput",
        "getstatusoutput",
    },
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
    "multiprocessing.context": {
        "Process",
        "ForkProcess",
        "SpawnProcess",
        "ForkServerProcess",
    },
    "multiprocessing.pool": {"Pool"},
    "multiprocessing.process": {"BaseProcess"},
    "torch.multiprocessing": {"Process", "Pool", "get_context", "spawn"},
    "concurrent.futures": {"ProcessPoolExecutor"},
    "concurrent.futures.process": {"ProcessPoolExecutor"},
    "pexpect": {"spawn", "run"},
    "posix": {
        "system",
        "fork",
        "forkpty",
        "posix_spawn",
        "posix_spawnp",
        "execv",
        "execve",
    },
    "_posixsubprocess": {"fork_exec"},
    "anyio": {"open_process", "run_process"},
    "anyio.to_process": {"run_sync"},
    "mcp.client.stdio": {"stdio_client"},
    "psutil": {"Popen"},
    "joblib": {"Parallel", "cpu_count"},
    # These ask another program: a browser, an editor, a pager, `ip`, `uname`, a compiler.
    "webbrowser": {"open", "open_new", "open_new_tab", "get"},
    "click": {"launch", "edit", "echo_via_pager"},
    "pydoc": {"pager", "pipepager"},
    "uuid": {"uuid1", "getnode"},
    "platform": {"processor", "platform"},
    "ctypes.util": {"find_library"},
}
"""By module, what starts a process or forks this one."""
ANY_START = frozenset[str]().union(*STARTS.values())
BY_NAME = {"getattr", "__import__", "import_module"}
NAMED = {
    "subprocess",
    "pty",
    "posix",
    "_posixsubprocess",
    "pexpect",
    *STARTS["os"],
    *STARTS["subprocess"],
} - {"run", "call"}
"""What is not reached by its name: a module or function that does little else than starting
processes.
"""


def name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


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
        elif isinstance(node, ast.Attribute) and node.attr in ANY_START and id(node) not in types:
            dotted = ast.unparse(node.value)
            first, _, rest = dotted.partition(".")
            module = named.get(dotted) or ".".join(filter(None, (named.get(first, ""), rest)))
            if node.attr in STARTS.get(module, ()):
                found.append(f"{node.lineno}: {module}.{node.attr}")
        elif isinstance(node, ast.Call) and name_of(node.func) in BY_NAME:
            words = {part.value for part in node.args if isinstance(part, ast.Constant)}
            if words & NAMED:
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
        "import os\ngetattr(os, 'system')('ls')",
        "import importlib\nimportlib.import_module('subprocess')",
        "from importlib import import_module\nimport_module('_posixsubprocess')",
        "import posix\nposix.system('ls')",
        "import anyio\nanyio.run_process('ls')",
        "from anyio import to_process\nto_process.run_sync(print)",
        "from multiprocessing.pool import Pool",
        "import torch.multiprocessing as mp\nmp.spawn(print)",
        "import psutil\npsutil.Popen(['ls'])",
        "import webbrowser\nwebbrowser.open('https://example.org')",
        "import click\nclick.edit('text')",
        "from click import launch",
        "import uuid\nuuid.uuid1()",
        "import platform\nplatform.processor()",
        "from ctypes.util import find_library",
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
        "import uuid\nuuid.uuid4()",
        "import click\nclick.echo('text')",
        "from importlib import import_module\nimport_module('numpy')",
    ],
)
def test_types_constants_and_errors_start_nothing(text: str) -> None:
    assert starts(text) == []


def test_only_the_owners_start_processes() -> None:
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        if is_owner(name):
            continue
        if here := starts(path.read_text(encoding="utf-8")):
            found[name] = here
    assert found == {}


@pytest.mark.parametrize("owner", OWNERS)
def test_an_owner_that_starts_nothing_is_no_owner(owner: str) -> None:
    assert starts((SOURCES / owner).read_text(encoding="utf-8"))


def by(name: str, text: str) -> None:
    """Run a text as if it were that file of the package."""
    exec(compile(text, str(SOURCES / name), "exec"), {})


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nvars(subprocess)['P' + 'open'](['true'])",
        "import os\nvars(os)['sys' + 'tem']('true')",
        "import os\nvars(os)['posix_' + 'spawn']('/bin/true', ['true'], {})",
        # A library that asks another program.
        "import platform\nplatform._Processor.from_subprocess()",
    ],
)
def test_a_start_by_another_file_is_refused_while_tests_run(text: str) -> None:
    with pytest.raises(AssertionError, match=r"rules/own/sly\.py:\d starts a process"):
        by("rules/own/sly.py", text)


def test_the_owners_and_the_tests_themselves_may_start_processes() -> None:
    by("host_program.py", "import subprocess\nsubprocess.run(['true'], check=True)")
    by("probe/inject/any.py", "import subprocess\nsubprocess.run(['true'], check=True)")
    assert process_owners.starter(sys._getframe()) is None
