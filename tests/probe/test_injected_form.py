"""The code that goes into the user's process: Python 3.9 reads it, it needs no package, it has
no circle.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from reenact.probe import injected as probe
from reenact.trials.folder import INJECTED

FILES = sorted([*probe.FOLDER.rglob("*.py"), *INJECTED.glob("reenact_*.py")])
OURS = ("reenact_probe", "reenact_trials")
PROGRAMS = {"numpy", "torch", "keras"}
"""What the program brings. Only numpy is imported at the top of a file, of those that torch or
Keras load.
"""


def module_of(file: Path) -> str:
    base = probe.FOLDER if probe.FOLDER in file.parents else INJECTED
    return ".".join(file.relative_to(base).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(file): file for file in FILES}


def imports(tree: ast.AST) -> Iterator[str]:
    """Modules that are imported anywhere in it, in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in inner)


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_python_3_9_reads_it_and_only_the_standard_library_is_needed(
    file: Path,
) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 9))
    assert "slots=True" not in file.read_text(encoding="utf-8")
    roots = {name.partition(".")[0] for name in imports(tree)}
    foreign = {
        root for root in roots if root not in sys.stdlib_module_names and not root.startswith(OURS)
    }
    assert foreign <= PROGRAMS | {"sitecustomize"}
    at_import = {
        name.partition(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imports(ast.Module([node], []))
    }
    assert not at_import & {"torch", "keras"}


def test_no_circle_between_the_files() -> None:
    graph = {
        name: set(imports(ast.parse(file.read_text(encoding="utf-8"))))
        & MODULES.keys() - {"sitecustomize"}
        for name, file in MODULES.items()
    }
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) == set(MODULES)
