from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from contracts.model import GOOD, Answering, ModelSuite, Verdict, question
from reenact.errors import (
    AnswerUnusable,
    BudgetSpent,
    InputError,
    ModelUnreachable,
    ReplayMiss,
    StorageError,
)
from reenact.llm.ask import Reply, Request, Transient, Usage
from reenact.llm.budget import Budget
from reenact.llm.live import open_model
from reenact.llm.prompts import read_prompt
from reenact.llm.recording import HEAD, Recorder, RecordingFile, Replay, read_recording
from reenact.llm.scripted import Scripted
from reenact.types import Progress


def record(file: Path, *steps: str) -> None:
    model = Recorder(Scripted([GOOD] * len(steps)), file)
    for step in steps:
        model.ask(question(step))


def test_a_recording_says_what_was_asked_and_who_answered(tmp_path: Path) -> None:
    record(tmp_path / "run.jsonl", "bug/plan")
    (line,) = read_recording(tmp_path / "run.jsonl")
    assert line["step"] == "bug/plan"
    assert line["hash"] == question().hash
    assert line["prompt"] == "suite/ask v1"
    assert line["system"] == "You judge."
    assert line["parts"] == ["Does it hold?"]
    assert line["answer"]["model"] == "scripted"


def test_final_errors_are_recorded_and_passing_ones_are_not(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with pytest.raises(AnswerUnusable):
        Recorder(Scripted(["bad"] * 3), file).ask(question("a"))
    with pytest.raises(ModelUnreachable):
        Recorder(Scripted([Transient("503")] * 9), file).ask(question("b"))
    with pytest.raises(BudgetSpent):
        Recorder(Scripted([GOOD], budget=Budget(calls=0)), file).ask(question("c"))
    (line,) = read_recording(file)
    assert (line["step"], line["error"]["kind"]) == ("a", "AnswerUnusable")


def test_a_recording_cut_at_any_byte_is_read_and_continued(tmp_path: Path) -> None:
    whole_file = tmp_path / "whole.jsonl"
    record(whole_file, "a", "b")
    whole = whole_file.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    file = tmp_path / "cut.jsonl"
    for cut in range(len(whole) + 1):
        file.write_bytes(whole[:cut])
        survived = sum(end <= cut for end in ends[1:])
        assert len(read_recording(file)) == survived
        if cut % 7 == 0:
            RecordingFile(file).append({"step": "c", "sample": 0, "hash": "h", "answer": {}})
            assert [line["step"] for line in read_recording(file)] == [
                *"ab"[:survived],
                "c",
            ]


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from reenact.llm.recording import Recorder
from reenact.llm.scripted import Scripted
from contracts.model import GOOD, question
model = Recorder(Scripted(lambda call: GOOD), Path(sys.argv[1]))
for nth in range(10**6):
    model.ask(question(f"step[{nth}]"))
    print(nth, flush=True)
"""


def test_a_killed_run_leaves_every_answer_it_was_given(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    line = [sys.executable, "-c", KILLED, str(file), str(Path(__file__).parents[1])]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as run:
        assert run.stdout
        acknowledged = [int(run.stdout.readline()) for _ in range(30)]
        os.kill(run.pid, signal.SIGKILL)
        acknowledged += [int(line) for line in run.stdout.read().splitlines()]
    recorded = [line["step"] for line in read_recording(file)]
    assert recorded[: len(acknowledged)] == [f"step[{nth}]" for nth in acknowledged]
    assert Replay(file).ask(question("step[7]")).value.holds


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    model = Recorder(Scripted(lambda call: GOOD), file)
    threads = [threading.Thread(target=lambda n=n: model.ask(question(f"s{n}"))) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(line["step"] for line in read_recording(file)) == sorted(
        f"s{n}" for n in range(16)
    )


def test_a_file_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "thesis.txt"
    file.write_bytes(b"years of work\nwithout a newline at the end")
    with pytest.raises(InputError, match="is not a recording"):
        Recorder(Scripted([GOOD]), file)
    assert file.read_bytes().endswith(b"at the end")


def test_a_folder_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        Recorder(Scripted([GOOD]), tmp_path)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    file = tmp_path / "run.jsonl"
    record(file, "a")
    before = file.read_bytes()
    recording = RecordingFile(file)
    file.unlink()
    file.symlink_to(full)
    with pytest.raises(StorageError, match="No space left"):
        recording.append({"step": "b"})
    assert before.startswith(HEAD)


def test_lines_are_json_whatever_was_redacted(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    asked = question(words="-----BEGIN RSA PRIVATE KEY-----\nabc")
    Recorder(Scripted([GOOD]), file).ask(asked)
    assert json.loads(file.read_text().splitlines()[1])["parts"] == ["[redacted]"]


class TestReplay(ModelSuite):
    @pytest.fixture
    def answering(self, tmp_path: Path) -> Answering:
        """Records whatever is asked first, then gives it again."""

        def open_with(texts: Sequence[str]) -> Any:
            return _RecordedThenReplayed(texts, tmp_path / "run.jsonl")

        return open_with


class _RecordedThenReplayed:
    name = "replay"

    def __init__(self, texts: Sequence[str], file: Path) -> None:
        self._recorder = Recorder(Scripted(list(texts)), file)
        self._file = file

    def ask(self, request: Request[Any]) -> Any:
        recorded = self._recorder.ask(request)
        replayed = Replay(self._file).ask(request)
        assert (replayed.value, replayed.wording) == (recorded.value, "same")
        assert replayed.source == "recording"
        return replayed


@pytest.fixture
def run(tmp_path: Path) -> Path:
    file = tmp_path / "run.jsonl"
    reply = Reply(GOOD, "openai:gpt-5", usage=Usage(100, 10), cost=Decimal("0.002"))
    model = Recorder(Scripted([reply] * 2), file)
    model.ask(question("bug/plan"))
    model.ask(question("bug/script", sample=1))
    return file


def test_an_answer_comes_again_with_what_it_cost(run: Path) -> None:
    answer = open_model(f"replay:{run}").ask(question("bug/plan"))
    assert answer.value.holds
    assert (answer.model, answer.source, answer.wording) == (
        "openai:gpt-5",
        "recording",
        "same",
    )
    assert (answer.usage.tokens, answer.cost) == (110, Decimal("0.002"))


def test_a_miss_is_loud(run: Path) -> None:
    model = open_model(f"replay:{run}")
    with pytest.raises(
        ReplayMiss,
        match=r"no answer for step bug/plan2 .* nearest recorded step is bug/plan\.",
    ):
        model.ask(question("bug/plan2"))
    with pytest.raises(ReplayMiss, match="sample 1"):
        model.ask(question("bug/plan", sample=1))


def test_an_earlier_wording_is_reported(run: Path) -> None:
    reported: list[Progress] = []
    reworded = question("bug/plan", words="Does it really hold?")
    answer = open_model(f"replay:{run}", tell=reported.append).ask(reworded)
    assert answer.wording == "earlier"
    assert reported[0].note == "step bug/plan was recorded for an earlier wording of suite/ask v1"
    assert open_model(f"replay:{run}").ask(question("bug/plan")).wording == "same"


def test_recorded_failures_fail_again(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with pytest.raises(AnswerUnusable) as first:
        Recorder(Scripted(["bad"] * 3), file).ask(question())
    with pytest.raises(AnswerUnusable) as again:
        Replay(file).ask(question())
    assert again.value.sentence == first.value.sentence
    assert again.value.for_model == first.value.for_model


def test_the_last_recording_of_a_step_counts(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    for why in ("first", "second"):
        Recorder(Scripted([{"holds": True, "why": why}]), file).ask(question("a"))
        Recorder(Scripted([GOOD]), file).ask(question("b"))
    Recorder(Scripted([{"holds": True, "why": "reworded"}]), file).ask(
        question("a", words="And now?")
    )
    replay = Replay(file)
    assert replay.ask(question("a")).value.why == "second", (
        "the last answer to the same words counts"
    )


def test_an_answer_that_no_longer_fits(run: Path) -> None:
    class Stricter(BaseModel):
        holds: bool
        evidence: str

    with pytest.raises(AnswerUnusable, match="no longer fits the asked-for type: Field required"):
        Replay(run).ask(Request("bug/plan", question().prompt, Stricter))

    def check(verdict: Verdict) -> None:
        raise ValueError("no such file")

    with pytest.raises(AnswerUnusable, match="no such file"):
        Replay(run).ask(replace(question("bug/plan"), check=check))


def test_a_replayed_run_can_be_recorded_again(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    open_model(f"replay:{run}", record_to=copy).ask(question("bug/plan"))
    again = Replay(copy).ask(question("bug/plan"))
    assert (again.model, again.wording) == ("openai:gpt-5", "same")


def test_recording_a_replay_does_not_make_an_earlier_wording_new(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    reworded = question("bug/plan", words="Does it really hold?")
    assert open_model(f"replay:{run}", record_to=copy).ask(reworded).wording == "earlier"
    assert Replay(copy).ask(reworded).wording == "earlier"


@pytest.mark.parametrize(
    "damage",
    [
        b"not json\n",
        b"[]\n",
        b'{"step": "a"}\n',
        b'{"step": [], "sample": 0, "hash": "", "answer": {}}\n',
        b"\xff\n",
    ],
)
def test_damage_is_named_with_its_line(run: Path, damage: bytes) -> None:
    first, second, third = run.read_bytes().splitlines(keepends=True)
    run.write_bytes(first + second + damage + third)
    with pytest.raises(InputError, match=r"Line 3 of the recording .* is damaged"):
        Replay(run)


def test_a_broken_answer_is_named(run: Path) -> None:
    line = {
        "step": "bug/plan",
        "sample": 0,
        "hash": question().hash,
        "answer": {"value": {}},
    }
    run.write_bytes(HEAD + json.dumps(line).encode() + b"\n")
    with pytest.raises(AnswerUnusable, match="no longer fits"):
        Replay(run).ask(question("bug/plan"))


@pytest.mark.parametrize("text", ["hello\n", '{"format": "reenact-recording/9"}\n'])
def test_a_file_that_is_no_recording(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(InputError, match="is not a recording"):
        open_model(f"replay:{tmp_path / 'x'}")
    with pytest.raises(InputError, match="cannot be read"):
        open_model(f"replay:{tmp_path / 'nowhere'}")


DEBUG = read_prompt(
    """name: paper/debug
version: 1
log: log 2000
loss: number
--- system
You debug.
--- user
The program printed:

{{log}}

The loss is {{loss}}.
""",
    "debug.md",
)


def printed(folder: str, hour: int, address: str, port: int, loss: float) -> str:
    return f"""2026-03-0{hour} 1{hour}:00:01,{hour}23 INFO pid={hour}77 listening on 127.0.0.1:{port}
Traceback (most recent call last):
  File "{folder}/src/train.py", line 48, in <module>
  File "{folder}/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1773, in _call_impl
RuntimeError: <torch.Tensor object at {address}> has loss {loss}
epoch 3 took {hour}.52s ({hour}1ms/step)"""


def test_a_replay_works_in_another_folder_hour_and_machine(tmp_path: Path) -> None:
    log = printed("/home/ann/work", 3, "0x7f32a81b2c40", 40123, 0.69314718)
    here = DEBUG.fill(log=log, loss=0.693147180)
    log = printed("/home/bob/work", 8, "0xffff8ab14710", 51999, 0.69314709)
    there = DEBUG.fill(log=log, loss=0.693147093)
    traces = ("ann", "bob", "0x7f32", "0xffff", "40123", "2026", "127.0.0.1")
    file = tmp_path / "run.jsonl"
    Recorder(Scripted([GOOD]), file).ask(Request("paper/debug", here, Verdict))
    text = file.read_text().replace(date.today().isoformat(), "")
    assert not [trace for trace in traces if trace in text]
    assert "site-packages/torch/nn/modules/module.py" in text
    replayed = Replay(file).ask(Request("paper/debug", there, Verdict))
    assert replayed.wording == "same"


def test_the_same_answer_to_the_same_question_is_kept_once(tmp_path: Path) -> None:
    """Two runs that ask the same may keep their answers in one file."""
    file = tmp_path / "run.jsonl"
    prompt = DEBUG.fill(log="x", loss=1.0)
    for answer in (GOOD, GOOD, '{"holds": false, "why": "another"}'):
        Recorder(Scripted([answer]), file).ask(Request("paper/debug", prompt, Verdict))
    records = read_recording(file)
    assert len(records) == 2
    assert {one["day"] for one in records} == {date.today().isoformat()}
