"""A revision in another layout: everything that is read differs, everything that is done is the
same.
"""

from __future__ import annotations

import ast
from pathlib import Path, PurePosixPath

import pytest

from reenact.bug.controls.relaid import lay_out, reads_docstrings, relaid
from reenact.bug.project_files import project_files

MODULE = '''#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""Words on
two lines."""

import math  # of Python


class Meter:
    """A meter."""; unit = "m"  # metres

    # a remark
    def mean(self, values,  # all of them

             scale=1.0):
        """The mean."""
        text = """not a docstring
# not a comment

"""
        x = values  # type: list
        return sum(values) / len(values) * scale, text, x


def nothing():
    """Only words."""
'''


def lines_of(data: bytes) -> list[int]:
    return [node.lineno for node in ast.walk(ast.parse(data)) if isinstance(node, ast.stmt)]


def test_every_line_number_comment_and_docstring_differs() -> None:
    new = relaid(MODULE.encode(), docstrings=True)
    assert new is not None
    text = new.decode()
    assert all(a != b for a, b in zip(lines_of(MODULE.encode()), lines_of(new), strict=True))
    for gone in (
        "of Python",
        "metres",
        "a remark",
        "all of them",
        "two lines",
        "A meter",
        "The mean",
        "Only",
    ):
        assert gone not in text
    assert text.startswith("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n")
    assert "# type: list" in text, "compilers of libraries read these"


def test_it_does_the_same() -> None:
    new = relaid(MODULE.encode(), docstrings=True)
    assert new is not None
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    exec(compile(MODULE, "a", "exec"), before)
    exec(compile(new, "b", "exec"), after)
    values = [1.0, 2.0]
    assert before["Meter"]().mean(values) == after["Meter"]().mean(values)  # type: ignore[operator]
    assert after["nothing"]() is None  # type: ignore[operator]


def test_docstrings_stay_where_that_is_asked_for() -> None:
    new = relaid(MODULE.encode(), docstrings=False)
    assert new is not None
    assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(MODULE))
    assert b"of Python" not in new


def test_revisions_that_differ_in_words_alone_become_equal() -> None:
    other = (
        MODULE.replace("A meter.", "It\n    measures.")
        .replace("# a remark", "")
        .replace("import math  # of Python", "\n\n# Long ago\nimport math")
    )
    assert other != MODULE
    assert relaid(other.encode(), docstrings=True) == relaid(MODULE.encode(), docstrings=True)
    changed = MODULE.replace("scale=1.0", "scale=2.0")
    assert relaid(changed.encode(), docstrings=True) != relaid(MODULE.encode(), docstrings=True)


@pytest.mark.parametrize(
    "data", [b"def f(:\n", b"\xff\xfe\x00", b"x = '\xe9'\n", b"if x:\n\ty\n        z\n"]
)
def test_what_is_no_python_stays(data: bytes) -> None:
    assert relaid(data, docstrings=True) is None


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\\\n    + 2  # sum\n",
        "x = 1; y = 2\nif x: y = 3\n",
        "@print\ndef f(): pass\n",
        "x = f'{1}' \\\n    'b'\n",
        'def f():\n    "a" "b"\n    return 1\n',
        "x = 1\r\ny = 2\r\n",
        "\x0cx = 1\n",
        "async def f():\n    async with x as y:\n        await y\n",
        "class A:\n\tdef f(self):\n\t\treturn 1\n",
        "x = (\n    # why\n    1,\n\n    2,\n)",
        "",
    ],
)
def test_odd_layouts(text: str) -> None:
    new = relaid(text.encode(), docstrings=False)
    assert new is not None
    assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("print(__doc__)\n", True),
        ("import argparse\nargparse.ArgumentParser(description=__doc__)\n", True),
        ("def f(x):\n    return x.__doc__\n", True),
        ("import inspect\ninspect.getdoc(f)\n", True),
        ("from inspect import getdoc\n", True),
        ("import doctest\n", True),
        ("import click\n", True),
        ("getattr(f, '__doc__')\n", True),
        ('"""Mentions __doc__ in words."""\n', False),
        ("import inspect\ninspect.signature(f)\n", False),
    ],
)
def test_whether_docstrings_are_read(tmp_path: Path, text: str, reads: bool) -> None:
    (tmp_path / "module.py").write_text(text)
    assert reads_docstrings(project_files(tmp_path)) is reads


def test_a_whole_revision(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "acme" / "data").mkdir(parents=True)
    (old / ".git").mkdir()
    (old / ".git" / "config").write_text("[core]\n")
    (old / "acme" / "__init__.py").write_text("WORDS = 'acme/data/NEWS.md'\n")
    (old / "acme" / "data" / "words.txt").write_text("a\nb\n")
    (old / "acme" / "data" / "NEWS.md").write_text("read by the project\n")
    (old / "README.md").write_text("Version 1.0\n")
    (old / "large.bin").write_bytes(b"0" * 2_000_000)
    (old / "link.txt").symlink_to("acme/data/words.txt")
    files = lay_out(project_files(old), new, docstrings=True)
    assert files.paths == (PurePosixPath("acme/__init__.py"),)
    assert (new / "acme" / "data" / "words.txt").read_text() == "a\nb\n", "data stays"
    assert (new / "acme" / "data" / "NEWS.md").read_text() == "read by the project\n"
    assert "Version" not in (new / "README.md").read_text()
    assert (new / "README.md").stat().st_size != (old / "README.md").stat().st_size
    assert (new / "acme" / "__init__.py").stat().st_mtime != (
        old / "acme" / "__init__.py"
    ).stat().st_mtime
    assert (new / "link.txt").readlink() == Path("acme/data/words.txt")
    assert (new / "large.bin").stat().st_size == 2_000_000
    assert not (new / ".git").exists()
    assert (old / "README.md").read_text() == "Version 1.0\n", "the original is not touched"
