"""`%load_ext reenact` in a real IPython: the magic, what it gives, how results are drawn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import InputError
from reenact.report.drawing import framed, mimebundle
from reenact.result import Result

pytest.importorskip("IPython")

CELL = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(120, 4)
y = (x.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=100.0)
for epoch in range(6):
    for rows in torch.randperm(120).split(20):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
LOADS = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
received = {"loaded": shell.run_cell("%load_ext reenact").success}
received["frameworks"] = sorted({"torch", "keras"} & set(sys.modules))
print()
print(json.dumps(received))
"""
SESSION = f"""
import json
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
received = {{}}
shell.run_cell("%load_ext reenact")
shell.run_cell("%%watch --preset deep --folder trace\\n" + {CELL!r})
found = shell.user_ns["_"]
received["codes"] = [one.first.code for one in found.findings]
received["drawn"] = shell.display_formatter.format(found)[0]
received["model"] = "model" in shell.user_ns
shell.run_cell("%%watch\\nanswer = 42")
received["nothing"] = shell.user_ns["_"] is found
received["answer"] = shell.user_ns.get("answer")
wrong = shell.run_cell("%%watch --preset huge\\n1").error_in_exec
received["wrong"] = [type(wrong).__name__, str(wrong)]
received["raised"] = type(shell.run_cell("%%watch\\n1/0").error_in_exec).__name__
received["again"] = shell.run_cell("%%watch\\nbeyond = 1").success
received["unloaded"] = shell.run_cell("%unload_ext reenact").success
received["gone"] = shell.find_cell_magic("watch") is None
print()
print(json.dumps(received))
"""


def session(text: str, python: str, folder: Path) -> dict[str, Any]:
    ended = subprocess.run(
        [python, "-c", text],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "IPYTHONDIR": str(folder / "ipython")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def received(tmp_path_factory: pytest.TempPathFactory, warm_interpreter: str) -> dict[str, Any]:
    return session(SESSION, warm_interpreter, tmp_path_factory.mktemp("notebook"))


def test_the_extension_loads_without_a_framework(tmp_path: Path) -> None:
    assert session(LOADS, sys.executable, tmp_path) == {
        "loaded": True,
        "frameworks": [],
    }


def test_a_watched_cell_trains_as_usual_and_gives_the_diagnosis(
    received: dict[str, Any],
) -> None:
    assert received["model"] is True
    assert "RE019" in received["codes"]


def test_a_diagnosis_is_drawn_in_a_frame_where_nothing_runs(
    received: dict[str, Any],
) -> None:
    assert "RE019 learning-rate-outside-range" in received["drawn"]["text/plain"]
    page = received["drawn"]["text/html"]
    assert page.startswith('<iframe sandbox="" srcdoc="&lt;!doctype html&gt;')
    assert "<script" not in page


def test_a_cell_that_trains_nothing_gives_nothing(received: dict[str, Any]) -> None:
    assert received["nothing"] is True
    assert received["answer"] == 42


def test_wrong_options_are_a_sentence_and_errors_end_the_watch(
    received: dict[str, Any],
) -> None:
    kind, sentence = received["wrong"]
    assert kind == "InputError"
    assert "huge" in sentence
    assert received["again"] is True


def test_unloading_takes_the_magic_away(received: dict[str, Any]) -> None:
    assert received["unloaded"] is True
    assert received["gone"] is True


def test_only_results_are_drawn() -> None:
    with pytest.raises(InputError, match="Only results of reenact are drawn"):
        mimebundle(Result())


def test_a_page_cannot_leave_its_frame() -> None:
    assert '"><script' not in framed('"><script>alert(1)</script>')


def test_importing_the_extension_imports_no_ipython(tmp_path: Path) -> None:
    look = "import reenact.notebook, sys; print('IPython' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"
