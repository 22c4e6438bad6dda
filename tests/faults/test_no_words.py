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
ALLOWED_IN_PROGRAM = {
    "edit/optimizers.py": "the text of an edit that it has just made",
    "flow/library_names.py": "names of classes of frameworks",
    "flow/members.py": "`NamedTuple` and its like, by their dotted names",
    "patch.py": "the text of a diff",
    "syntax/datafile.py": "splits YAML and TOML into their values",
    "syntax/excerpt.py": "text for messages, which `faults/` may not compare",
    "syntax/notebook.py": "magics of IPython, which are no Python",
    "syntax/source.py": "line ends, and what only Python 2 can parse",
    "training/framework.py": "names of modules of old Keras",
    "training/keras_training.py": "which variable is compiled; the attribute of Keras for its rate",
    "training/positions.py": "whether two dotted names are the same one",
}
"""Files of `program/` that search text: none of it decides what a variable means."""
BEGINNINGS = {
    "faults/facts/crash_advice.py": "names of types of tensors",
    "faults/facts/input_values.py": "`val_` and `test_`, which Keras puts before a metric",
    "faults/facts/lines.py": "paths of modules, as the running model has them",
    "faults/facts/untrained.py": "paths of parameters, as the running model has them",
    "faults/registry.py": "codes of detectors, as the user gives them",
    "program/training/averaged_models.py": "names of classes of frameworks",
}
"""Fenced files that ask how a name begins or ends, and whose names these are."""
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


def asks_how_a_name_begins(path: Path) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("startswith", "endswith")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


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


def test_no_helper_of_programs_searches_text_instead() -> None:
    """A detector that may not search asks `program/`: what is searched there is listed too."""
    searching = {
        path.relative_to(ROOT / "program").as_posix()
        for path in (ROOT / "program").rglob("*.py")
        if breaches(path)
    }
    assert searching == set(ALLOWED_IN_PROGRAM)


def test_only_names_of_frameworks_are_asked_how_they_begin() -> None:
    """`fixes/` writes text and may look at what it replaces."""
    asking = {
        relative(path)
        for path in fenced()
        if path.parent.name != "fixes" and asks_how_a_name_begins(path)
    }
    assert asking - set(ALLOWED) == set(BEGINNINGS)


@pytest.mark.parametrize(
    "text",
    [
        "import re",
        "from fnmatch import fnmatch",
        "name = ast.unparse(node)",
        "found = excerpt(node) == 'loss'",
        "found = 'val' in dotted_text(node)",
    ],
)
def test_a_detector_that_reads_words_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "detector.py").write_text(text, encoding="utf-8")
    assert len(breaches(tmp_path / "detector.py")) == 1


def test_a_detector_that_asks_how_a_name_begins_is_found(tmp_path: Path) -> None:
    (tmp_path / "detector.py").write_text("found = name.startswith('val')", encoding="utf-8")
    assert asks_how_a_name_begins(tmp_path / "detector.py")
