"""One pass over a file, and what is read off it once for all who ask."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

import pytest

from reenact.program.program import program_from_text
from reenact.program.syntax.index import index_of
from reenact.program.syntax.scope import SHARED, FileIndex
from reenact.types import Place

TEXT = """\
import torch

@cached(size=1)
class Net(torch.nn.Module):
    def forward(self, x: "Tensor", *, mask=None) -> "Tensor":
        with torch.no_grad() as off, lock:
            y = [-a + b for a, b in zip(x, x[1:]) if a < b <= 3 or not a]
        try:
            return f"{y!r:>{3}}"
        except ValueError as error:
            del y
        match x:
            case {"a": [1, *_], **rest} if rest:
                x @= (yield y)

lookup = {**{}, "k": lambda v: (v := 1)}
"""


def index() -> FileIndex:
    found = index_of(program_from_text(TEXT).entry_file)
    assert isinstance(found, FileIndex)
    return found


def test_the_parts_are_those_of_a_walk_without_what_all_trees_share() -> None:
    file = index()
    for node in (file.tree, *file.tree.body, *file.calls):
        assert list(file.parts(node)) == [
            one for one in ast.walk(node) if not isinstance(one, SHARED)
        ]
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        assert list(file.parts_of(node, ast.Name)) == names


def test_what_was_read_off_a_file_is_kept_with_it_and_not_with_another() -> None:
    file, other = index(), index_of(program_from_text(TEXT + "\n").entry_file)
    assert isinstance(other, FileIndex)
    assert file.once("key", lambda: 1) == file.once("key", lambda: 2) == 1
    assert other.once("key", lambda: 3) == 3


STATEMENTS = """x = f(
    1,
)
for a in (
    b,
):
    g(a)

    h(
        a)
else:
    pass
if x: y = (
    2)
@decorated
def k(
    z,
):
    return z
"""


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        *((line, 1) for line in (1, 2, 3)),
        *((line, 4) for line in (4, 5, 6)),
        (7, 7),
        (8, 8),
        (9, 9),
        (10, 9),
        (11, 11),
        (12, 12),
        (14, 13),
        (15, 15),
        (17, 16),
        (18, 16),
        (19, 19),
        (99, 99),
    ],
)
def test_lines_of_one_statement_begin_on_one_line(line: int, begins: int) -> None:
    program = program_from_text(STATEMENTS)
    file = program.entry
    assert program.statement(Place(file, line)) == Place(file, begins)


def test_each_line_is_its_own_where_nothing_can_be_parsed() -> None:
    program = program_from_text("x = (\n1,\n", others={"a.yaml": "lr: 1\n"})
    for path in (program.entry, PurePosixPath("a.yaml"), PurePosixPath("gone.py")):
        assert program.statement(Place(path, 2)) == Place(path, 2)
