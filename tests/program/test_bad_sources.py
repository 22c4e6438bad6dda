"""Sources that break readers: each ends in a sentence or in a reading, never in a traceback or
a hang.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path, PurePosixPath
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.errors import UnreadableProgram
from reenact.program.hyperparameter import Kind
from reenact.program.program import program_from_text, read_program
from reenact.program.static_graph import hyperparameters_of, static_graph
from reenact.program.syntax.source import MAX_FILE_BYTES, read_source

BAD = Path(__file__).parent.parent / "corpus_bad"
STATED = json.loads((BAD / "expected.json").read_text(encoding="utf-8"))


def generated() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bad_generate", BAD / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def why_not(entry: str) -> str:
    path = BAD / entry
    try:
        program = read_program([path.name], path.parent)
    except UnreadableProgram as refusal:
        return refusal.sentence
    hyperparameters_of(program)
    static_graph(program)
    broken = [file for file in program.unparsed if file.path == program.entry]
    return f"{broken[0].path}: {broken[0].unparsed}" if broken else ""


@pytest.mark.parametrize("entry", sorted(STATED))
def test_a_bad_source_is_read_or_refused_with_a_reason(entry: str) -> None:
    stated, reason = STATED[entry], why_not(entry)
    if stated["reads"] == "yes":
        assert reason == ""
    if stated["reads"] == "no":
        assert Path(entry).name in reason
        assert not stated.get("line") or f"line {stated['line']}" in reason


@pytest.mark.parametrize(
    "entry",
    sorted(name for name, stated in STATED.items() if stated.get("trains") is False),
)
def test_no_training_is_invented(entry: str) -> None:
    path = BAD / entry
    kinds = {
        param.kind
        for param in hyperparameters_of(read_program([path.name], path.parent))
        if not param.absent
    }
    assert not kinds & {
        Kind.LEARNING_RATE,
        Kind.OPTIMIZER,
        Kind.EPOCHS,
        Kind.BATCH_SIZE,
    }


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", ["long_line", "many_layers", "elifs", "sums", "parentheses"])
def test_huge_and_deep_sources_end(name: str) -> None:
    program = program_from_text(getattr(generated(), name)())
    assert hyperparameters_of(program) or program.unparsed or name in ("long_line", "elifs", "sums")


DEEP = {
    "minus": "x = " + "-" * 20_000 + "1",
    "attributes": "x = a" + ".b" * 20_000,
    "calls": "x = f" + "()" * 20_000,
    "powers": "x = 2" + "**2" * 20_000,
    "lambdas": "x = " + "lambda: " * 5_000 + "1",
    "brackets": "x = " + "[" * 150 + "]" * 150,
    "strings": "x = " + "'a' " * 20_000,
    "number": "x = " + "9" * 10_000,
    "f-strings": 'x = f"{' * 30 + "1" + '}"' * 30,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_deep_nesting_is_refused_or_read(text: str) -> None:
    program = program_from_text("import torch\n" + text + "\ntorch.optim.SGD([], lr=0.1)\n")
    rates = [
        param.value for param in hyperparameters_of(program) if param.kind is Kind.LEARNING_RATE
    ]
    assert rates == [0.1] or program.unparsed[0].unparsed


def test_large_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "big.py").write_bytes(b"x = [" + b"1," * (MAX_FILE_BYTES // 2) + b"]\n")
    assert "larger than" in read_source(tmp_path, PurePosixPath("big.py")).unparsed
    with pytest.raises(UnreadableProgram, match="larger than"):
        read_program(["big.py"], tmp_path)


def test_folders_and_missing_files_are_refused(tmp_path: Path) -> None:
    for words in (["nothing.py"], ["."], ["-m", "nobody"], []):
        with pytest.raises(UnreadableProgram):
            read_program(words, tmp_path)


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.py").write_text("LR = 0.1\n")
    (inside / "secret.py").symlink_to(outside / "secret.py")
    (inside / "train.py").write_text("import torch, secret\ntorch.optim.SGD([], lr=secret.LR)\n")
    program = read_program(["train.py"], inside)
    assert [str(file.path) for file in program.files] == ["train.py"]


def test_an_unreadable_module_does_not_hide_the_rest(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "train.py").write_text("import torch, broken\ntorch.optim.SGD([], lr=0.1)\n")
    program = read_program(["train.py"], tmp_path)
    assert [str(file.path) for file in program.unparsed] == ["broken.py"]
    assert [
        param.value for param in hyperparameters_of(program) if param.kind is Kind.LEARNING_RATE
    ] == [0.1]


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        program = program_from_text(text)
    except UnreadableProgram:
        return
    hyperparameters_of(program)


FRAGMENTS = st.sampled_from(
    """\
model.add(Dense(3))
x = nn.Linear(a, b)
model.fit(
)
class A(nn.Module):
    def forward(self, x):
        return self.a(x)
from torch import nn
from keras.layers import *
opt = SGD(p, lr=lr)
lr = lr
for e in range(n):
    loss.backward()
lr, n = n, lr
args = p.parse_args()
m = nn.Sequential(*m)
def f(x=f()):
    return f(x)
c = C(**c)
lambda: x
x.y = x.y
del lr
import train
global lr
with open(f) as f: c = json.load(f)
@dataclass
class C(C):
    a: C = C()
model.compile(loss=loss)""".splitlines()
)


@settings(max_examples=200, deadline=None)
@given(st.lists(FRAGMENTS, max_size=14))
def test_any_mixture_of_fragments_is_read_or_refused(lines: list[str]) -> None:
    program = program_from_text("\n".join(lines) + "\n")
    for param in hyperparameters_of(program):
        assert param.place.line >= 1
