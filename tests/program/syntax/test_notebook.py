"""Notebooks: cells to one script and back, magics neutralised, the JSON around them left alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch, readable_diff
from reenact.program.program import program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.program.syntax.notebook import BadNotebook, read_notebook


def notebook(*cells: str, indent: int | None = 1) -> str:
    parts = [{"cell_type": "markdown", "metadata": {}, "source": ["# lr = 7\n", "text"]}]
    for source in cells:
        lines = source.splitlines(keepends=True)
        parts.append(
            {
                "cell_type": "code",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": lines,
            }
        )
    return (
        json.dumps(
            {"cells": parts, "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
            indent=indent,
        )
        + "\n"
    )


CELLS = (
    "%matplotlib inline\nimport torch\n!pip install x\nfiles = !ls\n",
    "torch.manual_seed?\nlr = 0.1",
    "%%time\n%timeit -n 3 print(lr)\nfor i in range(2):\n"
    "    %time opt = torch.optim.SGD([], lr=lr)\n    !echo done",
    "%%bash\nrm -rf build\n",
    "this is no python at all",
)


def test_magics_are_neutral_and_lengths_stay() -> None:
    found = read_notebook(notebook(*CELLS))
    compile(found.script, "n", "exec")
    assert [
        found.script[cell.start : cell.start + len(cell.source)].count("\n") for cell in found.cells
    ] == [c.count("\n") for c in CELLS]
    assert len(found.remarks) == 2
    assert not any(line.startswith("rm") for line in found.script.splitlines())


def test_hyperparameters_know_their_cell() -> None:
    program = program_from_text(notebook(*CELLS), name="n.ipynb")
    param = next(param for param in hyperparameters_of(program) if param.kind is Kind.LEARNING_RATE)
    assert program.cell(param.place) == (2, 2)
    assert program.where(param.place) == "n.ipynb cell 2 line 2"
    assert program.line(param.place) == "lr = 0.1"


@pytest.mark.parametrize("indent", [1, 4, None])
def test_a_patch_changes_one_line_of_the_notebook(indent: int | None) -> None:
    text = notebook(*CELLS, indent=indent)
    program = program_from_text(text, name="n.ipynb")
    param = next(param for param in hyperparameters_of(program) if param.kind is Kind.LEARNING_RATE)
    new = Patch((Set(param.id, 0.01),)).apply(program).entry_file.text
    assert new == text.replace("lr = 0.1", "lr = 0.01")


def test_statements_go_into_the_cell_they_belong_to() -> None:
    cells = (
        (
            "import torch\nmodel = torch.nn.Linear(2, 1)\nopt = "
            "torch.optim.SGD(model.parameters(), lr=0.1)"
        ),
        (
            "for e in range(3):\n    loss = model(torch.ones(1, 2)).sum()\n    loss.backward()\n   "
            " opt.step()"
        ),
        "print(1)",
    )
    program = program_from_text(notebook(*cells), name="n.ipynb")
    params = {param.kind: param for param in hyperparameters_of(program)}
    changes = (
        Set(params[Kind.SCHEDULER].id, "StepLR"),
        Set(params[Kind.ZERO_GRAD].id, True),
    )
    new = json.loads(Patch(changes).apply(program).entry_file.text)
    sources = ["".join(cell["source"]) for cell in new["cells"][1:]]
    assert sources[1].endswith(
        "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n    scheduler.step()"
    )
    assert sources[0].endswith(
        "scheduler = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.1)"
    )
    assert sources[2] == cells[2]


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", '{"cells": 3}', '{"cells": []}', "{" * 3000, '{"cells": [{}]}'],
)
def test_what_is_no_notebook_is_refused(text: str) -> None:
    with pytest.raises(BadNotebook):
        read_notebook(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet="%!?ab =\n():#'\"\\", max_size=30), min_size=1, max_size=4))
def test_any_cells_become_a_script_that_parses(cells: list[str]) -> None:
    found = read_notebook(notebook(*cells))
    compile(found.script, "n", "exec", dont_inherit=True)
    assert len(found.script) == sum(len(cell.source) + 1 for cell in found.cells)


@pytest.mark.parametrize("layout", ["a line of JSON a line", "a cell a line", "one line"])
def test_a_change_is_shown_as_lines_of_the_cell(layout: str) -> None:
    source = (
        'import torch\nopt = torch.optim.SGD([], lr=0.1, momentum=0.9)  # "step"\nprint("a\\n")\n'
    )
    text = notebook(source, indent=None if layout == "one line" else 1)
    if layout == "a cell a line":
        whole = json.loads(text)
        whole["cells"][1]["source"] = source
        text = json.dumps(whole, indent=1)
    program = program_from_text(text, name="train.ipynb")
    rate = next(one for one in hyperparameters_of(program) if one.kind is Kind.LEARNING_RATE)
    diff = Patch((Set(rate.id, 0.01),)).diff(program)
    shown = readable_diff(diff)
    if layout == "one line":
        assert shown == diff
        return
    assert [
        line for line in shown.splitlines() if line[:1] in "+- " and line[:3] not in ("+++", "---")
    ] == [
        " import torch",
        '-opt = torch.optim.SGD([], lr=0.1, momentum=0.9)  # "step"',
        '+opt = torch.optim.SGD([], lr=0.01, momentum=0.9)  # "step"',
        ' print("a\\n")',
    ]
    assert shown.startswith("--- a/train.ipynb\n+++ b/train.ipynb\n@@")


def test_the_diff_of_a_script_is_shown_as_it_is() -> None:
    diff = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-lr = 1\n+lr = 2\n"
    assert readable_diff(diff) == diff
    assert readable_diff("") == ""
