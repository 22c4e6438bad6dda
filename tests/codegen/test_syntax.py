"""What statements bind, read from their text."""

from __future__ import annotations

import ast

import pytest

from reenact.codegen.static_checks import defined_names
from reenact.codegen.syntax import imported_names, parsed


@pytest.mark.parametrize(
    ("text", "package", "bound"),
    [
        ("import a.b", None, [("a", "a", "a.b")]),
        ("import a.b as c, d", None, [("c", "a.b", "a.b"), ("d", "d", "d")]),
        ("from a.b import c as d", None, [("d", "a.b.c", "a.b")]),
        ("from a import *", None, [("*", "a.*", "a")]),
        ("from . import c", None, []),
        ("from . import c", "pkg.sub", [("c", "pkg.sub.c", "pkg.sub")]),
        ("from ..other import c", "pkg.sub", [("c", "pkg.other.c", "pkg.other")]),
        ("x = 1", "pkg", []),
    ],
)
def test_imports(text: str, package: str | None, bound: list[tuple[str, str, str]]) -> None:
    found = imported_names(ast.parse(text).body[0], package)
    assert [(one.name, one.target, one.module) for one in found] == bound


def test_names_at_the_top_level() -> None:
    text = (
        "import a.b\nif a:\n    c, d.e = 1, 2\ntry:\n    from x import f\nexcept ImportError:\n  "
        "  f = None\nfor g in a:\n    pass\nwith a as h:\n    pass\nclass I:\n    j = 1\ndef "
        "k():\n    m = 1\n"
    )
    assert defined_names(ast.parse(text)) == {"a", "c", "f", "g", "h", "I", "k"}


def test_text_that_is_no_python_has_no_tree() -> None:
    assert parsed("def (") is None
    assert parsed("x = '\\d'") is not None
