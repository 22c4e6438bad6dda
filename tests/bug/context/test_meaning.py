"""Dependencies, surface and targets: what names lead to."""

from __future__ import annotations

import ast
from pathlib import Path

from reenact.bug.codebase import Class, Function
from reenact.bug.context.build import build_contexts
from reenact.bug.context.chunk import Chunk
from reenact.bug.context.clues import read_clues
from reenact.bug.context.definitions import (
    LONGEST,
    dependencies,
    exact_chunks,
    function_head,
    import_name,
    imported_definitions,
    signatures,
)
from reenact.bug.context.index import CodeIndex, build_index
from reenact.bug.project_files import project_files
from reenact.codegen.syntax import dotted_name


def chunk(code: CodeIndex, name: str) -> Chunk:
    return next(one for one in code.chunks if one.name == name)


def found(code: CodeIndex, name: str) -> Class | Function:
    thing = code.project.find(name)
    assert isinstance(thing, Class | Function)
    return thing


def test_bases_and_called_names_lead_to_their_definitions(code: CodeIndex) -> None:
    rests_on = {one.name: why for one, why in dependencies(code, chunk(code, "Gate")).items()}
    assert rests_on == {"Block": "base class of Gate", "squash": "called as squash"}
    assert {one.name for one in dependencies(code, chunk(code, "squash"))} == {"_bounded"}


def test_relative_imports_and_methods_of_self(code: CodeIndex) -> None:
    assert {one.name for one in dependencies(code, chunk(code, "Mixer"))} == {"Block"}


def test_a_broken_file_rests_on_nothing(code: CodeIndex) -> None:
    broken = next(one for one in code.chunks if one.path.name == "broken.py")
    assert dependencies(code, broken) == {}


def test_chains_of_names() -> None:
    def text(source: str) -> str:
        return dotted_name(ast.parse(source, mode="eval").body)

    assert text("a.b.c") == "a.b.c"
    assert text("super().fit") == "super().fit"
    assert text("f().g") == text("a[0].b") == ""


def test_the_report_s_imports_are_found_through_re_exports(code: CodeIndex, report: str) -> None:
    clues = read_clues(report)
    assert [name for name, _ in imported_definitions(code, clues)] == ["mininet.Gate"]
    assert exact_chunks(code, clues) == {chunk(code, "Gate"): "mininet.Gate"}


def test_names_are_given_as_users_import_them(code: CodeIndex) -> None:
    assert import_name(code, found(code, "mininet.layers.gate.Gate")) == "mininet.Gate"
    assert import_name(code, found(code, "mininet.loops.trainer.Trainer")) == "mininet.Trainer"
    assert import_name(code, found(code, "mininet.maths.squash")) == "mininet.maths.squash"


def test_the_surface_of_a_class(code: CodeIndex) -> None:
    shown = [
        (one.name, one.text, one.doc)
        for one in signatures(code, [(found(code, "mininet.Gate"), None)], {})
    ]
    assert shown == [
        (
            "mininet.Gate",
            "class Gate(Block); Gate(width, sharpness=4.0, **kwargs)",
            "Lets a share of its input through.",
        ),
        (
            "mininet.layers.base.Block",
            "Block(width: int, *, bias: bool = True)",
            "What all layers share.",
        ),
        (
            "mininet.Gate.forward",
            "def forward(self, inputs, mask=None)",
            "Gate the inputs.",
        ),
    ]


def test_the_surface_of_a_function(code: CodeIndex) -> None:
    (one,) = signatures(code, [(found(code, "mininet.maths.squash"), None)], {})
    assert (one.name, one.text) == (
        "mininet.maths.squash",
        "def squash(values, sharpness)",
    )


def head(source: str, *wanted: str) -> str:
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return function_head(node, wanted)


def test_heads_are_the_source() -> None:
    for source in (
        "def f(a, b: int=1, /, c=2, *args, d, e: str='x', **more) -> int",
        "async def f(*, a)",
        "@classmethod def make(cls)",
    ):
        written = source.replace("@classmethod ", "@classmethod\n") + ": pass"
        assert head(written).replace(" = ", "=") == source


def test_a_long_head_keeps_what_is_given() -> None:
    many = ", ".join(f"option_number_{n}={n}" for n in range(100))
    text = head(f"def f(a, {many}, *, flag): pass", "option_number_93")
    assert text.startswith("def f(a, option_number_0=0")
    assert text.endswith("..., option_number_93=93, ..., *, flag)")
    assert len(text) < LONGEST + 100


def test_a_definition_is_imported_as_users_write_it(tmp_path: Path) -> None:
    """The prompt had `keras.api.ops.normalize`, which no user writes."""
    files = {
        "tools/__init__.py": "from tools.api import ops\n",
        "tools/api/__init__.py": "from tools.api import ops\n",
        "tools/api/ops/__init__.py": "from tools.src.numerics import normalize\n",
        "tools/src/__init__.py": "",
        "tools/src/numerics.py": "def normalize(x):\n    return x\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    code = build_index(project_files(tmp_path))
    assert import_name(code, found(code, "tools.src.numerics.normalize")) == "tools.ops.normalize"


def test_the_path_that_the_report_imports_by_is_shown(code: CodeIndex) -> None:
    report = "Gate breaks\n\n```python\nfrom mininet.layers import Gate\n\nGate(3)\n```\n"
    contexts = build_contexts(code, report)
    assert contexts[0].surface[0].name == "mininet.layers.Gate"
