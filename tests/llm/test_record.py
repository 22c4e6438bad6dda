from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reenact.errors import AnswerUnusable, BudgetSpent, InputError, ModelUnreachable, StorageError
from reenact.llm.ask import Transient
from reenact.llm.budget import Budget
from reenact.llm.recording import HEAD, Recorder, RecordingFile, Replay, read_recording
from reenact.llm.scripted import Scripted
from reenact.testing.model import GOOD, question


def record(file: Path, *steps: str, with_prompts: bool = True) -> None:
    model = Recorder(Scripted([GOOD] * len(steps)), file, with_prompts=with_prompts)
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


def test_prompts_may_be_left_out(tmp_path: Path) -> None:
    record(tmp_path / "run.jsonl", "bug/plan", with_prompts=False)
    (line,) = read_recording(tmp_path / "run.jsonl")
    assert "parts" not in line
    assert "system" not in line


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
    record(whole_file, "a", "b", with_prompts=False)
    whole = whole_file.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    file = tmp_path / "cut.jsonl"
    for cut in range(len(whole) + 1):
        file.write_bytes(whole[:cut])
        survived = sum(end <= cut for end in ends[1:])
        assert len(read_recording(file)) == survived
        if cut % 7 == 0:
            RecordingFile(file).append({"step": "c", "sample": 0, "hash": "h", "answer": {}})
            assert [line["step"] for line in read_recording(file)] == [*"ab"[:survived], "c"]


KILLED = """
import sys, os
from pathlib import Path
from reenact.llm.recording import Recorder
from reenact.llm.scripted import Scripted
from reenact.testing.model import GOOD, question
model = Recorder(Scripted(lambda call: GOOD), Path(sys.argv[1]))
for nth in range(10**6):
    model.ask(question(f"step[{nth}]"))
    print(nth, flush=True)
"""


def test_a_killed_run_leaves_every_answer_it_was_given(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(file)], stdout=subprocess.PIPE) as run:
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
    assert sorted(line["step"] for line in read_recording(file)) == sorted(f"s{n}" for n in range(16))


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
