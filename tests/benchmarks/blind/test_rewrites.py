"""Each rewrite keeps what a program does, and knows the line that every line comes from."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.blind.rewrites.every import ALL, REWRITES, rewritten
from benchmarks.blind.rewrites.text import Edit, Project, Source

pytestmark = pytest.mark.release

PROGRAM = '''\
"""A training by hand."""

from __future__ import annotations

import math as m
import os.path as paths
from collections import OrderedDict, deque
from random import Random

# The seed.
chance = Random(3)


class Layer:
    """One weight."""

    def __init__(self, size, gain=1.0):
        self.weights = [chance.random() * gain for _ in range(size)]  # start

    def forward(self, row):
        return sum(weight * value for weight, value in zip(self.weights, row))


def scale(value, factor):
    return value * factor


def square(value):
    """Twice itself."""
    return value * value


class Loss:
    def __init__(self, value):
        self.total = value

    def backward(self):
        print("backward", round(self.total, 6))


def criterion(prediction, target):
    return Loss(square(prediction - target))


def run(layer, *, epochs, rate=0.1):
    history = OrderedDict()
    for epoch in range(epochs):
        row = [1.0, 2.0]
        loss = criterion(layer.forward(row), epoch)
        loss.backward()
        layer.weights = [scale(weight, rate) for weight in layer.weights]
        history[epoch] = loss.total
    return history


layer = Layer(2, gain=0.5)
recent = deque([1, 2, 3], maxlen=2)
for epoch, total in run(layer, epochs=3).items():
    print(f"epoch {epoch} total {total:.6f} {m.sqrt(total):.{recent[0]}f} {recent}")
print(paths.basename("a/b"), layer.weights)
'''


def project(text: str, **more: str) -> Project:
    files = {"train.py": text, **{f"{name}.py": other for name, other in more.items()}}
    return Project({path: Source.of(one) for path, one in files.items()})


def text_of(text: str, name: str) -> str:
    return rewritten(project(text), name).files["train.py"].text


def printed(text: str) -> str:
    reported = io.StringIO()
    with contextlib.redirect_stdout(reported):
        exec(compile(text, "train.py", "exec"), {"__name__": "__main__"})
    return reported.getvalue()


@pytest.mark.parametrize("name", [*REWRITES, ALL])
def test_a_rewritten_program_prints_the_same(name: str) -> None:
    changed = rewritten(project(PROGRAM), name).files["train.py"]
    assert changed.text != PROGRAM
    assert printed(changed.text) == printed(PROGRAM)


@pytest.mark.parametrize("name", [*REWRITES, ALL])
def test_every_line_of_a_program_is_stated_somewhere(name: str) -> None:
    changed = rewritten(project(PROGRAM), name).files["train.py"]
    assert len(changed.line_map) == len(changed.lines)
    reported = {line for lines in changed.line_map for line in lines}
    words = ("rate=0.1", "self.weights =", "criterion(layer", "OrderedDict, deque", "m.sqrt")
    for word in words:
        number = next(i for i, line in enumerate(PROGRAM.split("\n"), 1) if word in line)
        assert number in reported


def origin(text: str, name: str, word: str) -> list[tuple[int, ...]]:
    """Of the lines of a rewritten program that have a word."""
    changed = rewritten(project(text), name).files["train.py"]
    pairs = zip(changed.lines, changed.line_map, strict=True)
    return [lines for line, lines in pairs if word in line]


def test_names_of_the_program_are_gone_and_those_of_libraries_stay() -> None:
    changed = text_of(PROGRAM, "names")
    for gone in ("gain", "epochs", "history", "criterion"):
        assert gone not in changed
    for kept in ("Random", "random()", "OrderedDict", "maxlen=2", ".items()", "backward"):
        assert kept in changed


def test_a_name_in_a_string_keeps_its_attribute() -> None:
    text = (
        "class A:\n    def __init__(self):\n        self.size = 3\n        self.width = 4\n"
        "a = A()\nprint(getattr(a, 'size'), a.size, a.width)\n"
    )
    changed = text_of(text, "names")
    assert "self.size" in changed
    assert "width" not in changed
    assert printed(changed) == printed(text)


def test_an_attribute_that_a_library_reads_keeps_its_name() -> None:
    text = (
        "import argparse\n"
        "class P(argparse.Action):\n    def __call__(self, parser, space, values, option=None):\n"
        "        self.seen = values\n        setattr(space, self.dest, values)\n"
        "p = argparse.ArgumentParser()\np.add_argument('--rate', action=P)\n"
        "print(p.parse_args(['--rate', '3']).rate)\n"
    )
    changed = text_of(text, "names")
    assert "def __call__" in changed
    assert "self.dest" in changed
    assert printed(changed) == printed(text)


def test_a_keyword_is_renamed_with_its_parameter_alone() -> None:
    text = (
        "def f(size, depth=2, **more):\n    return size * depth\n"
        "def g(**depth):\n    return dict(size=1, **depth)\n"
        "print(f(2, depth=3), g(width=2), f(size=5))\n"
    )
    changed = text_of(text, "names")
    assert "depth" not in changed
    assert "width=2" in changed
    assert printed(changed) == printed(text)


def test_a_program_that_reads_its_names_keeps_them() -> None:
    text = "rate = 3\nprint(globals()['rate'], locals()['rate'])\n"
    assert text_of(text, "names") == text


def test_names_that_another_file_may_import_stay() -> None:
    before = project("from model import size\nprint(size)\n", model="size = 3\n")
    changed = rewritten(before, "names")
    assert changed.files["model.py"].text == "size = 3\n"


def test_scopes_of_comprehensions_and_globals_are_kept_apart() -> None:
    text = (
        "x = 1\ndef f():\n    global x\n    x = 2\n    return [x for x in range(3)]\n"
        "def g(x):\n    def h():\n        nonlocal x\n        x += 1\n        return x\n"
        "    return h() + x\nprint(f(), x, g(4), [y := x, y], (lambda x: x)(9))\n"
        "try:\n    raise ValueError(x)\nexcept ValueError as x:\n    print(x)\n"
    )
    assert printed(text_of(text, "names")) == printed(text)


def test_comments_and_docstrings_go_and_their_lines_with_them() -> None:
    text = '# one\ndef f():\n    """Two."""\n\n\nx = "# three"  # four\nprint(f(), x)\n'
    changed = rewritten(project(text), "comments").files["train.py"]
    assert changed.text == 'def f():\n    pass\n\n\nx = "# three"\nprint(f(), x)\n'
    assert changed.line_map == ((2,), (3,), (4,), (5,), (6,), (7,), (8,))


def test_a_comment_that_reenact_reads_stays() -> None:
    text = "x = 1  # reenact: ignore[RE010]\n"
    assert text_of(text, "comments") == text


def test_definitions_are_reordered_unless_one_needs_another() -> None:
    text = (
        "class A:\n    pass\ndef f():\n    return B\nclass B(A):\n    pass\n"
        "def g(x=B):\n    return x\nprint(f(), g())\n"
    )
    changed = text_of(text, "order")
    heads = [
        line.split("(")[0].strip(":") for line in changed.split("\n") if line[:3] in ("cla", "def")
    ]
    assert sorted(heads) == ["class A", "class B", "def f", "def g"]
    assert heads.index("class A") < heads.index("class B") < heads.index("def g")
    assert heads != ["class A", "def f", "class B", "def g"]
    assert printed(changed) == printed(text)
    assert origin(text, "order", "def f") == [(3,)]


def test_definitions_that_act_keep_their_order() -> None:
    text = (
        "def note(f):\n    print(f.__name__)\n    return f\n"
        "x = 1\n@note\ndef a():\n    pass\n@note\ndef b():\n    pass\n"
    )
    assert printed(text_of(text, "order")) == "a\nb\n"


def test_literals_stand_behind_names_whose_lines_are_those_of_the_literals() -> None:
    text = "def f(a, b):\n    print(a, b)\n\n\nf(\n    3,\n    b='x',\n)\n"
    changed = rewritten(project(text), "literals").files["train.py"]
    assert "CONST_1 = 3\nCONST_2 = 'x'\n" in changed.text
    assert changed.line_map[:2] == ((6,), (7,))
    assert printed(changed.text) == printed(text)


def test_imports_take_the_other_form() -> None:
    text = (
        "import os.path as p\nimport json as j\nfrom collections import deque, Counter as C\n"
        "from importlib import metadata\nprint(p.join('a', 'b'), j.dumps(1), f'{deque([1])}')\n"
        "print(C('aab'), metadata.__name__)\n"
    )
    changed = text_of(text, "imports")
    assert "from os import path as p" in changed
    assert "import json\n" in changed
    assert "import collections\nimport importlib.metadata\n" in changed
    assert "importlib.metadata.__name__" in changed
    assert "collections.deque" in changed
    assert printed(changed) == printed(text)


def test_an_import_stays_where_its_package_has_another_meaning() -> None:
    text = "from collections import deque\ncollections = [1]\nprint(deque(collections))\n"
    assert text_of(text, "imports") == text


def test_an_import_of_the_program_itself_stays() -> None:
    before = project("from model import size\nprint(size)\n", model="size = 3\n")
    assert rewritten(before, "imports").files["train.py"] == before.files["train.py"]


LOSSES = """\
class T:
    def __init__(self, x):
        self.x = x
    def backward(self):
        print(self.x)
def f(a, b):
    return T(a - b)
def main():
    for y in range(2):
        loss = f(
            y * 2,
            3,
        )
        loss.backward()
main()
"""


def test_the_expression_of_a_loss_becomes_a_helper() -> None:
    changed = text_of(LOSSES, "split")
    assert "def helper_1(y):" in changed
    assert "loss = helper_1(y)" in changed
    assert printed(changed) == printed(LOSSES)
    assert origin(LOSSES, "split", "y * 2") == [(11,)]
    assert origin(LOSSES, "split", "loss = ") == [(10, 11, 12, 13)]
    assert origin(LOSSES, "split", "main()") == [(8,), (15,)]


@pytest.mark.parametrize(
    "expression",
    ["f(1, 2) if y else f(2, 1)", "f(*[1, 2])", "f((lambda: y)(), 1)", "f(sum(i for i in [y]), 1)"],
)
def test_what_is_evaluated_later_or_not_at_all_is_not_split(expression: str) -> None:
    text = LOSSES.replace("f(\n            y * 2,\n            3,\n        )", expression)
    assert expression in text
    assert text_of(text, "split") == text


def test_a_small_helper_is_inlined_and_its_line_is_both() -> None:
    text = "def twice(x):\n    return x * 2\n\n\na = 3\nprint(twice(a), a)\n"
    changed = rewritten(project(text), "inline").files["train.py"]
    assert changed.text == "\n\na = 3\nprint((a * 2), a)\n"
    assert changed.line_map[3] == (2, 6)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x + x\nprint(f(input))\nprint(f)\n".replace("input", "3 * 2"),
        "y = 1\ndef f(x):\n    return x + y\ndef g(y):\n    y += 1\n    return f(y)\nprint(g(5))\n",
        "def f(x):\n    return x + 1\nprint(f(x=3))\n",
        "def f(x=1):\n    return x + 1\nprint(f())\n",
        "def f(x):\n    return f(x - 1) if x else 0\nprint(f(3))\n",
    ],
)
def test_what_could_mean_something_else_is_not_inlined(text: str) -> None:
    assert text_of(text, "inline") == text


def test_a_stretch_over_lines_keeps_all_their_lines() -> None:
    source = Source.of("a = (1 +\n     2)\nb = 3\n")
    changed = source.edited([Edit((0, 4), (1, 7), "3"), Edit((2, 0), (2, 0), "c = 4\nd = 5\n")])
    assert changed.text == "a = 3\nc = 4\nd = 5\nb = 3\n"
    assert changed.line_map == ((1, 2), (3,), (3,), (3,), (4,))


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        Source.of("abcd\n").edited([Edit((0, 0), (0, 3), "x"), Edit((0, 2), (0, 4), "y")])


STATEMENTS = (
    "a = square(b) + 1",
    "b = scale(a, 2) - a",
    "c = [a + i for i in range(3) if i != b]",
    "print(f'a={a!r:>4} b {b} {c[0] if c else None}')",
    "d = {'a': a, 'b': Layer(a).weight}  # a note",
    "if a > b:\n    a, b = b, a\nelse:\n    a += 1",
    "for a in range(2):\n    print(a, scale(a, b))",
    "def square(x):\n    '''Another.'''\n    return x * x + b",
    "loss = Layer(scale(a, b))\nloss.backward()",
    "print(sorted(d, key=lambda a: (a, b)), m.floor(2.5), Random(a).random())",
    "def inner(a, *b, c=2, **d):\n    def deep():\n        return a, b, c, d\n    return deep()",
    "print(len(str(c)))\n# the end",
)
START = """\
import math as m
from random import Random
class Layer:
    def __init__(self, weight):
        self.weight = weight
    def backward(self):
        print('backward', self.weight)
def square(x):
    return x * x
def scale(value, factor):
    return value * factor
a, b, c, d = 1, 2, [], {}
"""


@settings(max_examples=60, deadline=None)
@given(
    chosen=st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=8),
    name=st.sampled_from([*REWRITES, ALL]),
)
def test_any_program_compiles_and_prints_the_same(chosen: Sequence[str], name: str) -> None:
    text = START + "\n".join(chosen) + "\n"
    assert printed(text_of(text, name)) == printed(text)
