"""What must hold for every hyperparameter, every value and every combination of changes."""

from __future__ import annotations

import ast
import json
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from reenact.errors import PatchConflict, PatchRefused
from reenact.program.edit.change import Change, Insert, Set
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch, change_for
from reenact.program.program import Program, program_from_text, read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.program.syntax.source import Language
from reenact.program.training.analysis import Style
from reenact.program.training.reading import read
from reenact.program.training.vocabulary import plain_name

CORPUS = Path(__file__).parent.parent / "corpus"
NAMES = sorted(path.parent.name for path in CORPUS.glob("*/expected.json"))
COMPANIONS = {
    Kind.OPTIMIZER: {Kind.MOMENTUM, Kind.WEIGHT_DECAY, Kind.GRADIENT_CLIP},
    Kind.NORMALIZATION: {Kind.LAYER},
}
"""Hyperparameters that exist or not depending on another: SGD has a momentum, Adam has none."""


@cache
def program(name: str) -> Program:
    entry = json.loads((CORPUS / name / "expected.json").read_text(encoding="utf-8"))["entry"]
    return read_program(entry, CORPUS / name)


names = st.sampled_from(NAMES)
quick = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def plain(value: object) -> object:
    if isinstance(value, str):
        return {"swish": "silu"}.get(plain_name(value), plain_name("".join(value.split())))
    return json.dumps(value)


def facts(params: tuple[Hyperparameter, ...], without: set[Kind]) -> Counter:
    return Counter(
        (param.kind, plain(param.value), param.layer_type, param.id.model)
        for param in params
        if param.kind not in without
    )


def turnable(name: str) -> list[tuple[Hyperparameter, object]]:
    return [
        (param, value)
        for param in hyperparameters_of(program(name))
        for value in param.alternatives
    ]


@quick
@given(name=names, data=st.data())
def test_set_changes_that_hyperparameter_and_no_other(name: str, data: st.DataObject) -> None:
    base = program(name)
    param, value = data.draw(st.sampled_from(turnable(name)))
    assume(param.kind is not Kind.LAYER)
    new = Patch((Set(param.id, value),)).apply(base)
    before, after = hyperparameters_of(base), hyperparameters_of(new)
    companions = COMPANIONS.get(param.kind, set())
    if value is None or value == "linear":
        own = {param.kind}
        assert facts(after, companions | own) == facts(before, companions | own)
        return
    mine = [other for other in after if other.id == param.id]
    assert [plain(m.value) for m in mine] == [plain(value)] or [m.computed for m in mine] == [value]
    if read(base).sites[param.id].style is Style.APPLY:
        # A new element shifts the numbers of those behind it, in the source as in the live model.
        gone = facts(before, {Kind.ACTIVATION}) - facts(after, {Kind.ACTIVATION})
        assert not gone
        return
    others = {
        other.id: plain(other.value)
        for other in before
        if other.id != param.id and other.kind not in companions
    }
    found = {
        other.id: plain(other.value)
        for other in after
        if other.id != param.id and other.kind not in companions
    }
    assert found == others


@quick
@given(name=names, data=st.data())
def test_changed_programs_parse_and_untouched_lines_stay(name: str, data: st.DataObject) -> None:
    base = program(name)
    param, value = data.draw(st.sampled_from(turnable(name)))
    new = Patch((change_for(param, value),)).apply(base)
    assert not new.unparsed
    for old, now in zip(base.files, new.files, strict=True):
        if now.language is Language.PYTHON:
            compile(now.text, str(now.path), "exec", dont_inherit=True)
        comments = [line for line in old.text.split("\n") if line.strip().startswith("#")]
        assert [line for line in now.text.split("\n") if line.strip().startswith("#")] == comments
        assert now.text.count("\r\n") == 0 or "\r\n" in old.text


def some_changes(name: str, data: st.DataObject, most: int = 4) -> tuple[Change, ...]:
    chosen = data.draw(st.lists(st.sampled_from(turnable(name)), min_size=1, max_size=most))
    changes: list[Change] = [change_for(param, value) for param, value in chosen]
    anchors = [
        k
        for k in hyperparameters_of(program(name))
        if k.kind is Kind.LAYER and k.library in ("torch", "keras")
    ]
    if anchors and data.draw(st.booleans()):
        changes.append(Insert(data.draw(st.sampled_from(anchors)).id, "Dropout"))
    return tuple(changes)


@quick
@given(name=names, data=st.data())
def test_any_subset_applies_or_is_refused_by_name(name: str, data: st.DataObject) -> None:
    patch = Patch(some_changes(name, data))
    kept = data.draw(st.sets(st.integers(0, len(patch.changes) - 1)))
    for part in (patch, patch.subset(kept)):
        assert Patch.from_json(json.loads(json.dumps(part.to_json()))) == part
        try:
            new = part.apply(program(name))
        except PatchRefused:
            continue
        assert not new.unparsed


@quick
@given(name=names, data=st.data())
def test_the_order_of_changes_does_not_matter(name: str, data: st.DataObject) -> None:
    changes = some_changes(name, data, 3)
    kinds = [str(change) for change in changes]
    assume(len(set(kinds)) == len(kinds))
    try:
        one = Patch(changes).apply(program(name))
    except PatchConflict:
        with pytest.raises(PatchRefused):
            Patch(changes[::-1]).apply(program(name))
        return
    except PatchRefused:
        return
    other = Patch(changes[::-1]).apply(program(name))
    assert hyperparameters_of(one)
    assert {k.id: plain(k.value) for k in hyperparameters_of(one)} == {
        k.id: plain(k.value) for k in hyperparameters_of(other)
    }


@settings(quick, max_examples=25)
@given(name=names, data=st.data())
def test_git_applies_the_diff(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    base = program(name)
    patch = Patch(some_changes(name, data, 3))
    try:
        new = patch.apply(base)
    except PatchRefused:
        return
    diff = patch.diff(base)
    folder = tmp_path_factory.mktemp("tree")
    for file in base.files:
        (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.path).write_bytes(file.encode())
    if not diff:
        assert all(file in base.files for file in new.files)
        return
    (folder / "the.diff").write_bytes(diff.encode())
    command = [
        "git",
        "-c",
        "core.autocrlf=false",
        "apply",
        "--whitespace=nowarn",
        "the.diff",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for file in new.files:
        assert (folder / file.path).read_bytes() == file.encode()


def ids(base: Program) -> dict[str, object]:
    return {str(param.id): plain(param.value) for param in hyperparameters_of(base)}


def rewritten(name: str, change) -> Program:
    base = program(name)
    texts = {
        str(file.path): change(file.text) if file.language is Language.PYTHON else file.text
        for file in base.files
    }
    first = str(base.entry)
    others = {path: text for path, text in texts.items() if path != first}
    return program_from_text(texts[first], name=first, arguments=base.arguments, others=others)


PYTHON = [name for name in NAMES if not program(name).is_notebook]


@settings(quick, max_examples=40)
@given(name=st.sampled_from(PYTHON), data=st.data())
def test_ids_survive_unrelated_edits(name: str, data: st.DataObject) -> None:
    extra = data.draw(
        st.lists(
            st.sampled_from(
                [
                    "# a remark",
                    "",
                    "unrelated_9 = 3",
                    "import os as unrelated_os",
                    "print('unrelated')",
                ]
            ),
            min_size=1,
            max_size=3,
        )
    )

    def insert(text: str) -> str:
        body = ast.parse(text).body
        lines = text.splitlines(keepends=True)
        starts = [node.lineno - 1 for node in body[1:] if not getattr(node, "decorator_list", None)]
        starts = [at for at in starts if ";" not in lines[at - 1] and ";" not in lines[at]]
        where = data.draw(st.sampled_from(starts or [len(lines)]))
        before = lines[where - 1] if where else "\n"
        if "__future__" in "".join(lines[: where + 3]) or not before.endswith("\n"):
            return text
        return "".join([*lines[:where], *(line + "\n" for line in extra), *lines[where:]])

    assert ids(rewritten(name, insert)) == ids(program(name))


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", PYTHON)
def test_ids_survive_reformatting(name: str) -> None:
    assert ids(rewritten(name, lambda text: ast.unparse(ast.parse(text)) + "\n")) == ids(
        program(name)
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", PYTHON)
def test_ids_survive_line_ends_and_blank_lines(name: str) -> None:
    spread = rewritten(name, lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"))
    assert ids(spread) == ids(program(name))
