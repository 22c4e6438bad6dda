"""The corpus says true things about itself: statements held against the text, without the code
they judge.
"""

from __future__ import annotations

import ast
import io
import json
import runpy
import tokenize
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict

from reenact.faults.fault_type import FaultType
from reenact.program.hyperparameter import Kind, Written

CORPUS = Path(__file__).parent / "corpus"
BAD = Path(__file__).parent / "corpus_bad"
BAD_EXPECTED = json.loads((BAD / "expected.json").read_text(encoding="utf-8"))
NAMES = sorted(path.parent.name for path in CORPUS.glob("*/expected.json"))
TASKS = Literal["regression", "binary", "multi-class", "multi-label"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Spot(Strict):
    file: str
    line: int
    cell: int | None = None


class StatedHyperparameter(Spot):
    kind: str
    value: Any
    text: str
    written: str | list[str]
    layer: str | None = None
    optional: bool = False
    overridden: str | None = None
    default: Any = None
    lines: list[int] | None = None


class NotHyperparameter(Spot):
    text: str
    why: str


class StatedLayer(Spot):
    type: str
    name: str | None = None
    written_as: str | None = None
    composite: bool = False
    lines: list[int] | None = None


class StatedFault(Spot):
    type: str
    why: str


class StatedRun(Strict):
    steps: int
    epochs: int | None = None
    batch_size: int | None = None
    first_lr: float | None = None
    last_lr: float | None = None


class Metric(Strict):
    name: str
    pattern: str
    better: Literal["higher", "lower"]


class Expected(Strict):
    entry: list[str]
    framework: Literal["torch", "lightning", "transformers", "keras3", "tf.keras", "keras1-2"]
    runs: bool
    reason: str | None = None
    requires: list[str] = []
    needs_shim: bool
    task: TASKS | list[TASKS] | None
    styles: list[str]
    knobs: list[StatedHyperparameter]
    not_knobs: list[NotHyperparameter]
    layers: list[StatedLayer]
    layers_order: Literal["exact", "set"] = "exact"
    run: StatedRun
    metric: Metric
    faults: list[StatedFault]


class BadSource(Strict):
    reads: Literal["yes", "no", "either"]
    ends: Literal["finishes", "raises", "exits", "killed", "never", "not run"]
    why: str
    trains: bool | None = None
    exit_code: int | None = None
    signal: int | None = None
    exception: str = ""
    file: str | None = None
    line: int | None = None
    says: str = ""
    steps: int | None = None
    needs: str | None = None
    stdin: Literal["empty"] | None = None


@cache
def expected(name: str) -> Expected:
    return Expected.model_validate_json(
        (CORPUS / name / "expected.json").read_text(encoding="utf-8")
    )


@cache
def lines_of(name: str, file: str, cell: int | None) -> list[str]:
    text = (CORPUS / name / file).read_text(encoding="utf-8-sig")
    if cell is not None:
        text = "".join(json.loads(text)["cells"][cell]["source"])
    return text.splitlines()


def line_at(name: str, spot: Spot) -> str:
    return lines_of(name, spot.file, spot.cell)[spot.line - 1]


def last_name(text: str) -> str:
    return text.strip("\"'").rpartition(".")[2].lower().replace("_", "")


def stated_value(text: str) -> Any:
    """What is there, read as a literal; the text itself when it is not one."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return list(value) if isinstance(value, tuple) else value


def test_there_are_enough_programs_and_every_style_appears() -> None:
    present = {style for name in NAMES for style in expected(name).styles}
    required = set((CORPUS / "styles.txt").read_text(encoding="utf-8").splitlines())
    assert len(NAMES) >= 28
    assert required - present == set()
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} - {"__pycache__"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_hyperparameters_are_where_they_are_listed(name: str) -> None:
    for param in expected(name).knobs:
        place = f"{param.kind} at {param.file}:{param.line}"
        assert param.kind in set(Kind), place
        words = [param.written] if isinstance(param.written, str) else param.written
        assert set(words) <= set(Written), place
        assert param.text in line_at(name, param), place
        assert param.lines is None or param.lines[0] <= param.line <= param.lines[1], place
        assert ("absent" in words) == (param.value is None), place
        check_value(param, place)


def check_value(param: StatedHyperparameter, place: str) -> None:
    there = param.default if param.overridden else param.value
    if there is None:
        return
    if isinstance(there, str):
        assert last_name(param.text) == last_name(there) or param.text == there, place
        return
    found = stated_value(param.text)
    if isinstance(found, str):
        found = yaml.safe_load(found)
    assert found == there, place
    assert type(found) is type(there) or {type(found), type(there)} == {int, float}, place


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_hyperparameter_and_what_is_faulty_stands_there_too(
    name: str,
) -> None:
    params = {(k.file, k.cell, k.line, k.text) for k in expected(name).knobs}
    for other in expected(name).not_knobs:
        assert other.text in line_at(name, other), other
        assert (other.file, other.cell, other.line, other.text) not in params, other
    for fault in expected(name).faults:
        assert fault.type in set(FaultType)
        assert line_at(name, fault).strip()


@pytest.mark.parametrize("name", NAMES)
def test_layer_lines_call_a_constructor_of_that_name(name: str) -> None:
    for layer in expected(name).layers:
        assert f"{layer.written_as or layer.type}(" in line_at(name, layer), layer


@pytest.mark.parametrize("name", NAMES)
def test_entry_names_files_that_are_there(name: str) -> None:
    entry = expected(name).entry
    if entry[0] == "-m":
        assert (CORPUS / name / entry[1] / "__main__.py").is_file()
    else:
        assert any((CORPUS / name / word).is_file() for word in entry)
    assert expected(name).runs or expected(name).reason


def test_unusual_bytes_survived_the_checkout() -> None:
    text = (CORPUS / "torch_tabs_crlf" / "lernen.py").read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")
    assert text.count(b"\r\n") == text.count(b"\n") > 20
    assert b"\r\n\t\t" in text
    assert b"\n" not in (BAD / "old_mac_newlines.py").read_bytes()


def test_every_bad_source_is_described() -> None:
    ours = {"generate.py", "import_cycle/left.py", "import_cycle/right.py"}
    there = {
        path.relative_to(BAD).as_posix()
        for path in BAD.rglob("*")
        if path.suffix in (".py", ".ipynb")
    }
    assert there - ours == set(BAD_EXPECTED)


@pytest.mark.parametrize("file", [file for file in BAD_EXPECTED if file.endswith(".py")])
def test_bad_sources_are_as_readable_as_stated(file: str) -> None:
    stated = BadSource.model_validate(BAD_EXPECTED[file])
    try:
        ast.parse((BAD / file).read_bytes())
        found, line = "yes", None
    except (SyntaxError, ValueError) as error:
        found, line = "no", getattr(error, "lineno", None)
    assert stated.reads in (found, "either")
    assert found == "yes" or stated.line in (None, line)


def test_generated_sources_are_as_readable_as_stated() -> None:
    made = runpy.run_path(str(BAD / "generate.py"))
    for name in ("long_line", "many_layers"):
        compile(made[name](), name, "exec")
    for name in ("elifs", "sums"):
        tokens = tokenize.generate_tokens(io.StringIO(made[name]()).readline)
        assert sum(1 for _ in tokens) > 5000, name
    with pytest.raises(SyntaxError):
        compile(made["parentheses"](), "parentheses", "exec")
