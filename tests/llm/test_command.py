from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from contracts.model import GOOD, Answering, LiveModelSuite, question
from reenact.errors import InputError, MissingPart, ModelRefused, ModelUnreachable
from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock, Patience

TAKE_ONE = """
import os, pathlib, sys
asked = sys.stdin.read()
for file in sorted(pathlib.Path(sys.argv[1]).glob("*.txt")):
    try:
        taken = file.rename(file.with_suffix(f".{os.getpid()}"))
    except FileNotFoundError:
        continue
    taken_text = taken.read_text()
    sys.stdout.write(taken_text)
    break
"""


def command(folder: Path, code: str, *arguments: str) -> str:
    script = folder / "assistant.py"
    script.write_text(code)
    return "command:" + shlex.join([sys.executable, str(script), *arguments])


class TestCommand(LiveModelSuite):
    @pytest.fixture
    def answering(self, tmp_path: Path) -> Answering:
        def open_with(texts: Sequence[str]) -> object:
            for nth, text in enumerate(texts):
                (tmp_path / f"{nth:02}.txt").write_text(text)
            return open_model(command(tmp_path, TAKE_ONE, str(tmp_path)), clock=ManualClock())

        return open_with  # type: ignore[return-value]


def test_the_prompt_goes_to_stdin(tmp_path: Path) -> None:
    code = (
        "import sys; open(sys.argv[1], 'w').write(sys.stdin.read()); print('{\"holds\": true, "
        '"why": "x"}\')'
    )
    answer = open_model(command(tmp_path, code, str(tmp_path / "seen"))).ask(
        question(words="Does the loss fall?")
    )
    seen = (tmp_path / "seen").read_text()
    assert answer.usage.estimated
    assert seen.startswith("You judge.\n\nDoes the loss fall?")
    assert '"required": [' in seen


def test_a_repair_shows_the_earlier_answer(tmp_path: Path) -> None:
    code = (
        f"import sys; asked = sys.stdin.read()\nprint({GOOD!r} if 'Your earlier answer:' in asked "
        "and 'maybe so' in asked else 'maybe so')"
    )
    assert open_model(command(tmp_path, code)).ask(question()).attempts == 2


@pytest.mark.parametrize("code", [2, 64, 70, 78, 126, 127])
def test_final_exit_codes(tmp_path: Path, code: int) -> None:
    clock = ManualClock()
    model = open_model(
        command(tmp_path, f"import sys; print('no key', file=sys.stderr); sys.exit({code})"),
        clock=clock,
    )
    with pytest.raises(ModelRefused, match=f"exit code {code}: no key"):
        model.ask(question())
    assert clock.slept == []


@pytest.mark.parametrize("ending", ["sys.exit(1)", "sys.exit(75)", "os.kill(os.getpid(), 9)"])
def test_passing_endings_are_tried_again(tmp_path: Path, ending: str) -> None:
    code = (
        "import os, sys, pathlib\n"
        "been = pathlib.Path(sys.argv[1])\n"
        f"if not been.exists():\n    been.touch()\n    {ending}\n"
        f"print({GOOD!r})"
    )
    clock = ManualClock()
    assert (
        open_model(command(tmp_path, code, str(tmp_path / "been")), clock=clock)
        .ask(question())
        .value.holds
    )
    assert len(clock.slept) == 1


def test_a_time_out_ends_the_whole_process_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "import os, subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(pids)!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(600)"
    )

    class Waiting(ManualClock):
        """Time is over as soon as both processes are there."""

        def now(self) -> float:
            return 1e6 if pids.exists() and len(pids.read_text().split()) == 2 else 0.0

    model = open_model(command(tmp_path, code), patience=Patience(tries=1), clock=Waiting())
    with pytest.raises(ModelUnreachable, match="did not answer in time"):
        model.ask(question())
    for pid in map(int, pids.read_text().split()):
        assert _gone(pid)


def test_a_child_that_holds_the_output_does_not_hold_us(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        "import subprocess, sys, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(pid)!r}).write_text(str(child.pid))\n"
        f"print({GOOD!r})"
    )
    assert open_model(command(tmp_path, code)).ask(question()).value.holds
    assert _gone(int(pid.read_text()))


def test_endless_output_is_cut(tmp_path: Path) -> None:
    code = "import sys\nwhile True:\n    sys.stdout.write('x' * 65536)"
    with pytest.raises(ModelRefused, match="printed more than"):
        open_model(command(tmp_path, code)).ask(question())


def test_a_large_prompt_and_a_program_that_does_not_read_it(tmp_path: Path) -> None:
    model = open_model(command(tmp_path, f"print({GOOD!r})"))
    assert model.ask(question(words="x" * 2_000_000)).value.holds


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(MissingPart, match="no-such-assistant"):
        open_model("command:/no/such/no-such-assistant --flag").ask(question())


def test_a_command_that_cannot_be_split() -> None:
    with pytest.raises(InputError, match="cannot be split"):
        open_model('command:assistant "unclosed')


def test_the_name_holds_no_folder_and_no_argument() -> None:
    assert open_model("command:/usr/local/bin/assistant --token abc").name == "command:assistant"


def _gone(pid: int) -> bool:
    """Ended, or a zombie that its own parent will collect; given a moment on a busy machine."""
    for _ in range(200):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    os.kill(pid, 9)
    return False
