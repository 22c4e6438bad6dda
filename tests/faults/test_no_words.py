"""No verdict depends on words of the author: rules neither unparse programs nor search their text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reenact

ROOT = Path(reenact.__file__).parent
FENCED = (
    "faults/**/*.py",
    "probe/crash_*.py",
    "program/flow/holders.py",
    "program/flow/library_uses.py",
    "program/flow/signs.py",
    "program/syntax/lines.py",
    "program/training/average*.py",
    "program/training/axes.py",
    "program/training/counted_hits.py",
    "program/training/cut_off.py",
    "program/training/divergence.py",
    "program/training/kept_graphs.py",
    "program/training/loss_terms.py",
    "program/training/lookups.py",
    "program/training/made.py",
    "program/training/roles.py",
    "program/training/rows/*.py",
    "program/training/value_targets.py",
    "program/training/written.py",
)
"""What decides a verdict: the detectors, and the questions that they ask of the text."""
ALLOWED = {
    "faults/page.py": "reads the pages of the faults, which are our own text",
    "faults/evidence.py": "looks for a warning of numpy among those of the run",
    "faults/crash/out_of_memory.py": "reads sizes off the message of a crash",
    "faults/crash/shape_mismatch.py": "reads the message of a crash",
    "faults/facts/crash.py": "reads the message of a crash",
    "probe/crash_phrases.py": "reads the message of a crash",
    "probe/crash_sorting.py": "looks at the modules of a crash's frames",
    "probe/crash_values.py": "looks at the library function that crashed",
    "faults/data/inputs_not_floating_point.py": "reads the message of a crash",
    "faults/labels/target_broadcast.py": "reads the message of a warning",
    "faults/layers/feature_map_too_small.py": "reads the message of a crash",
    "faults/optimisation/unsuitable_batch_size.py": "reads numbers off the message of a crash",
}
"""Files that search text which is not the program's."""
SEARCHES = ("re", "fnmatch", "regex")


def _quotes(node: ast.AST) -> bool:
    """Text for messages, of which none may be compared."""
    return isinstance(node, ast.Name) and node.id in ("excerpt", "dotted_text")


def breaches(path: Path) -> list[str]:
    """Imports of what searches text, and calls of what makes text of a tree."""
    return [
        f"line {node.lineno}: {ast.unparse(node)[:60]}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(one.name in SEARCHES for one in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module in SEARCHES)
        or (isinstance(node, ast.Attribute) and node.attr == "unparse")
        or (isinstance(node, ast.Compare) and any(map(_quotes, ast.walk(node))))
    ]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def fenced() -> list[Path]:
    return sorted({path for pattern in FENCED for path in ROOT.glob(pattern)})


@pytest.mark.parametrize("path", fenced(), ids=relative)
def test_no_text_is_searched(path: Path) -> None:
    if relative(path) in ALLOWED:
        pytest.skip("its text is not the program's")
    assert breaches(path) == []


def test_what_is_allowed_is_needed() -> None:
    """A file that became clean leaves the lists."""
    assert [name for name in ALLOWED if not breaches(ROOT / name)] == []


def test_each_pattern_names_a_file() -> None:
    assert [pattern for pattern in FENCED if not any(ROOT.glob(pattern))] == []
