"""`import reenact`: typed keywords that their page explains, silent, cancellable, in a running
loop too.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import click
import pytest

import reenact
from reenact.api.options import GROUPS as OPTIONS
from reenact.api.options import RunOptions, TrainingOptions, defaults_of, grouped
from reenact.cli.main import reenact as command_line
from reenact.errors import InputError, ReenactError, Stopped
from reenact.settings import field_texts
from waiting import LONGEST_S
from warm import warm_python_of_commands

pytestmark = pytest.mark.usefixtures("warm_python")

GROUPS = ("ModelOptions", "RunOptions", "TrainingOptions")
FUNCTIONS = sorted(
    name
    for name, home in reenact._HOME_OF.items()
    if home.startswith("api.") and name not in GROUPS
)
LONG = (
    "diagnose",
    "repair",
    "reproduce_bug",
    "reproduce_paper",
    "fingerprint",
    "evaluate",
)
COMMANDS = {"reproduce_bug": "bug", "reproduce_paper": "paper"}
FAULTY = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(dim=1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = torch.nn.CrossEntropyLoss()
for _ in range(12):
    x = torch.randn(16, 4)
    y = x[:, :3].argmax(1)
    optimizer.zero_grad()
    loss(model(x), y).backward()
    optimizer.step()
print("a line of the program")
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(FAULTY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_completion_shows_the_api_and_nothing_else() -> None:
    assert dir(reenact) == sorted(reenact.__all__)
    assert {*FUNCTIONS, "watch", "metric"} <= set(dir(reenact))
    page = inspect.getdoc(reenact) or ""
    assert [name for name in FUNCTIONS if f"reenact.{name}(" not in page] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_keyword_is_typed_and_explained(name: str) -> None:
    function = getattr(reenact, name)
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(
        one.annotation is not inspect.Parameter.empty for one in signature.parameters.values()
    )
    assert not any(
        one.kind is inspect.Parameter.VAR_KEYWORD for one in signature.parameters.values()
    )
    page = inspect.getdoc(function) or ""
    if len(signature.parameters) > 2:
        explained = set(re.findall(r"\w+", page.partition("Args:")[2]))
        assert set(signature.parameters) - explained == set()
    if name in LONG:
        assert {"progress", "cancel", "max_time", "runs_dir"} <= set(defaults_of(function))


@pytest.mark.parametrize("name", LONG)
def test_the_command_has_no_option_that_python_lacks(name: str) -> None:
    command = command_line.get_command(click.Context(command_line), COMMANDS.get(name, name))
    assert command is not None
    given = {option.name for option in command.params if option.expose_value} - {
        "output_format",
        "verbose",
        "help",
        # In Python a function of its own: `diagnose_trace`.
        "trace",
        # In Python a function of its own: `apply_fix`.
        "fix",
        "allow_dirty",
        # Prints what the command would cost, and begins nothing.
        "dry_run",
    }
    assert given - set(defaults_of(getattr(reenact, name))) == set()


@pytest.mark.parametrize("name", LONG)
def test_python_and_the_command_have_the_same_defaults(name: str) -> None:
    command = command_line.get_command(click.Context(command_line), COMMANDS.get(name, name))
    assert command is not None
    known = defaults_of(getattr(reenact, name))
    compared = 0
    for option in command.params:
        default, keyword = option.default, str(option.name)
        if (
            keyword in known
            and isinstance(default, str | int | float | Path)
            and not isinstance(default, bool)
        ):
            assert str(known[keyword]) == str(default), keyword
            compared += 1
    assert compared or name == "fingerprint"


@pytest.mark.parametrize("group", OPTIONS)
def test_every_option_of_a_group_is_explained_and_one_of_the_command_line(
    group: type,
) -> None:
    assert reenact.__all__.count(group.__name__) == 1
    options = {field.name for field in dataclasses.fields(group)}
    assert set(field_texts(group)) == options
    command = command_line.get_command(click.Context(command_line), "diagnose")
    assert command is not None
    # On the command line the folder of the journal is a setting.
    assert options - {"runs_dir"} <= {option.name for option in command.params}


def test_options_of_the_command_line_find_their_group() -> None:
    taken = grouped(
        reenact.diagnose,
        {"workers": 2, "fresh": True, "depth": "static", "max_calls": 3},
    )
    assert taken["training"] == TrainingOptions(workers=2)
    assert taken["run"] == RunOptions(fresh=True)
    assert (taken["asking"].max_calls, taken["depth"]) == (3, "static")
    assert len(inspect.signature(reenact.diagnose).parameters) <= 20


def test_functions_stay_functions_when_every_module_is_loaded(place: Path) -> None:
    script = """
import importlib, pkgutil, sys
import reenact
for module in pkgutil.walk_packages(reenact.__path__, "reenact."):
    if not set(module.name.split(".")) & {"inject", "inside", "demo", "__main__"}:
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            assert not str(error.name).startswith("reenact"), error
for name in reenact.__all__:
    assert name == "__version__" or callable(getattr(reenact, name)), name
assert reenact.list_rules("RE010")[0].code == "RE010"
assert reenact.hyperparameters("train.py").hyperparameters
assert reenact.lint("train.py").findings
assert reenact.diagnose("train.py", depth="static").exit_code == 1
assert reenact.load_run().command == "diagnose"
for call in (
    lambda: reenact.repair("missing.py"),
    lambda: reenact.reproduce_bug("report.md", repo="."),
    lambda: reenact.reproduce_paper("paper.md"),
    lambda: reenact.fingerprint("paper.md"),
    lambda: reenact.evaluate(".", rubric="missing.json"),
):
    try:
        call()
    except reenact.ReenactError as error:
        print(type(error).__name__)
"""
    ended = subprocess.run(
        [warm_python_of_commands(), "-c", script],
        capture_output=True,
        text=True,
        cwd=place,
        check=False,
    )
    assert (ended.returncode, len(ended.stdout.split())) == (0, 5), ended.stderr


def test_a_diagnosis_prints_nothing_unless_asked(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = reenact.diagnose("train.py")
    assert found.exit_code == 1
    assert capfd.readouterr() == ("", "")
    received: list[reenact.Progress] = []
    with (place / "output.txt").open("wb") as output:
        reenact.diagnose(
            place / "train.py",
            output=output,
            progress=received.append,
            run=RunOptions(fresh=True),
        )
    assert "a line of the program" in (place / "output.txt").read_text()
    assert "diagnose" in {one.what for one in received}
    assert capfd.readouterr() == ("", "")
    assert reenact.load_run().result["findings"]


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        (
            {"depth": "quik"},
            "depth is one of static, quick, normal, deep. Received: depth='quik'.",
        ),
        (
            {"threshold": float("nan")},
            "threshold must be between 0 and 1. Received: threshold=nan.",
        ),
        ({"max_time": -1.0}, "max_time"),
        ({"select": "no-such-rule"}, "no-such-rule"),
        (
            {"select": [3]},
            "select must be a word or a list of words. Received: select=[3].",
        ),
    ],
)
def test_a_wrong_value_is_a_sentence(
    place: Path, keywords: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ReenactError, match=re.escape(sentence)):
        reenact.diagnose("train.py", **keywords)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'buget'"):
        reenact.repair("train.py", buget="3")  # type: ignore[call-arg]


def test_too_few_seeds_and_a_branch_without_apply(place: Path) -> None:
    with pytest.raises(InputError, match="seeds must be between 6 and 1000"):
        reenact.repair("train.py", seeds=2)
    with pytest.raises(InputError, match="branch without apply"):
        reenact.repair("train.py", branch="fix")


def test_a_call_is_cancelled_from_another_thread(place: Path) -> None:
    (place / "endless.py").write_text(
        "import time\nopen('started', 'w').close()\ntime.sleep(3000)\n"
    )
    cancel = threading.Event()

    def when_started() -> None:
        while not (place / "started").exists():
            time.sleep(0.05)
        cancel.set()

    threading.Thread(target=when_started, daemon=True).start()
    with pytest.raises(Stopped):
        reenact.diagnose("endless.py", cancel=cancel)
    assert reenact.load_run().status == "stopped"


def test_an_interrupt_reaches_the_caller_and_ends_the_program(place: Path) -> None:
    (place / "endless.py").write_text(
        "import os, time\nopen('part', 'w').write(str(os.getpid()))\n"
        "os.rename('part', 'pid')\ntime.sleep(3000)\n"
    )
    script = """
import reenact, signal
# Started under nohup or in the background, a process inherits that interrupts are ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    reenact.diagnose("endless.py")
except KeyboardInterrupt:
    print("interrupted")
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=place, stdout=subprocess.PIPE, text=True
    ) as child:
        while not (place / "pid").exists():
            assert child.poll() is None
            time.sleep(0.05)
        # As a notebook does: the kernel alone is interrupted.
        child.send_signal(signal.SIGINT)
        try:
            assert child.communicate(timeout=LONGEST_S)[0] == "interrupted\n"
        finally:
            child.kill()
    with pytest.raises(ProcessLookupError):
        os.kill(int((place / "pid").read_text()), 0)


def test_within_a_running_event_loop(place: Path) -> None:
    paper = Path(__file__).parents[2] / "scripts" / "kill_cases" / "paper"

    recording = (paper / "recording.jsonl").read_text()
    recording = recording.replace('"paper/fingerprint/', '"fingerprint/fingerprint/')
    (place / "recording.jsonl").write_text(recording)

    async def notebook() -> int:
        taken = reenact.fingerprint(
            paper / "paper.md",
            without=("scan", "atomicity"),
            model="replay:recording.jsonl",
        )
        return len(taken.fingerprint.criteria)

    assert asyncio.run(notebook()) > 0


def test_a_diagnosis_prints_as_the_command_does_and_its_findings_have_plain_fields(
    place: Path,
) -> None:
    found = reenact.diagnose("train.py", depth="static")
    (finding,) = found.findings
    assert repr(found) == f"<Diagnosis train.py: 1 finding, {finding.code} at {finding.line}>"
    assert f"train.py:{finding.line}:" in str(found)
    assert found.sentence in str(found)
    assert finding.message in " ".join(str(finding).split())
    assert (finding.file, finding.name) == ("train.py", finding.headline.name)
    assert finding.fix is not None
    assert finding.fix.diff in found.to_dict()["findings"][0]["fix"]["diff"]  # type: ignore[index,call-overload]
    assert repr(finding).startswith(f"<Finding {finding.code} {finding.name} at train.py:")


def test_a_result_is_saved_as_page_and_as_data(place: Path) -> None:
    found = reenact.diagnose("train.py", depth="static")
    assert found.save(place / "page.html").read_text() == found.to_html()
    assert json.loads(found.save("data.json").read_text())["data"] == json.loads(found.to_json())


def test_what_lint_finds_has_the_fields_of_a_finding_and_the_path_in_print(
    place: Path,
) -> None:
    (place / "package").mkdir()
    (place / "train.py").rename(place / "package" / "train.py")
    found = reenact.lint(".")
    finding = found.findings[0]
    assert (finding.file, finding.code) == (
        "package/train.py",
        finding.data["witnesses"][0]["code"],
    )
    assert f"package/train.py:{finding.line}:" in str(found)
    assert repr(found).startswith("<LintResult 1 finding in ")
    assert repr(reenact.hyperparameters("package/train.py")).startswith(
        "<Hyperparameters train.py: "
    )


def test_the_last_run_is_the_newest_with_a_result(place: Path) -> None:
    found = reenact.diagnose("train.py", depth="static")
    from reenact.journal import Journal
    from reenact.settings import resolve

    with (
        Journal.open(resolve({}).settings.runs_dir) as journal,
        journal.run(pipeline="apply", request={}, what="train.py", fresh=True) as run,
    ):
        run.finish({"backups": []})
    last = reenact.load_run()
    assert last.command == "diagnose"
    assert repr(last) == f"<RecordedRun {last.id} diagnose train.py: {found.sentence}>"
    (finding,) = found.findings
    assert f"train.py:{finding.line}:" in str(last)
    assert json.loads(last.to_json())["result"] == json.loads(found.to_json())
    assert finding.code in last.to_html()
