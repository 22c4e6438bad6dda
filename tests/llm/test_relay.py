from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reenact.errors import BudgetSpent, InputError, ModelUnreachable, StorageError
from reenact.llm.ask import Image, Text
from reenact.llm.budget import Budget
from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock, Patience
from reenact.llm.relay import file_answer, waiting
from reenact.testing.model import GOOD, Answering, LiveModelSuite, Verdict, question
from reenact.types import Progress

HOLDS = {"holds": True, "why": "it does"}


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Sequence[str]], None]]:
    """Somebody who answers what waits in the folder, with these raw texts."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def start(texts: Sequence[str]) -> None:
        def answer() -> None:
            left = list(texts)
            while left and not over.wait(0.01):
                for asked in waiting(tmp_path)[: len(left)]:
                    hidden = tmp_path / f".{asked.id}"
                    hidden.write_text(left.pop(0))
                    hidden.rename(tmp_path / f"{asked.id}.answer.txt")

        threads.append(threading.Thread(target=answer))
        threads[-1].start()

    yield start
    over.set()
    for thread in threads:
        thread.join()


class TestRelay(LiveModelSuite):
    @pytest.fixture
    def answering(self, tmp_path: Path, serve: Callable[[Sequence[str]], None]) -> Answering:
        def open_with(texts: Sequence[str]) -> object:
            serve(texts)
            return open_model(f"relay:{tmp_path}", patience=Patience(relay_s=60))

        return open_with  # type: ignore[return-value]


def asked_and_left(folder: Path, clock: ManualClock | None = None, **options: object) -> str:
    """Ask with nobody there; the request stays. Returns its id."""
    model = open_model(f"relay:{folder}", clock=clock or ManualClock(), **options)  # type: ignore[arg-type]
    with pytest.raises(ModelUnreachable):
        model.ask(question())
    return waiting(folder)[0].id


def test_nobody_answers_in_time(tmp_path: Path) -> None:
    clock = ManualClock()
    reported: list[Progress] = []
    model = open_model(f"relay:{tmp_path}", clock=clock, patience=Patience(relay_s=30), tell=reported.append)
    with pytest.raises(ModelUnreachable, match="Nobody answered") as caught:
        model.ask(question())
    assert 30 <= sum(clock.slept) <= 32
    assert "reenact relay" in caught.value.next_step
    assert "waiting for an answer to suite-ask-0-" in reported[0].note


def test_a_long_wait_is_reported_once_a_minute(tmp_path: Path) -> None:
    reported: list[Progress] = []
    asked_and_left(tmp_path, patience=Patience(relay_s=600), tell=reported.append)
    assert len(reported) == 10


def test_an_answer_filed_later_is_found_by_the_next_run(tmp_path: Path) -> None:
    name = asked_and_left(tmp_path)
    file_answer(tmp_path, name, HOLDS, by="a reader")
    clock = ManualClock()
    answer = open_model(f"relay:{tmp_path}", clock=clock).ask(question())
    assert answer.value == Verdict(**HOLDS)
    assert answer.model == "relay:a reader"
    assert clock.slept == []


def test_each_sample_and_each_wording_is_its_own_request(tmp_path: Path) -> None:
    file_answer(tmp_path, asked_and_left(tmp_path), HOLDS)
    model = open_model(f"relay:{tmp_path}", clock=ManualClock())
    for other in (question(sample=1), question(words="Really?"), question("other/step")):
        with pytest.raises(ModelUnreachable):
            model.ask(other)
    assert len(waiting(tmp_path)) == 3


def test_a_bare_json_answer_will_do(tmp_path: Path) -> None:
    name = asked_and_left(tmp_path)
    (tmp_path / f"{name}.answer.json").write_text(GOOD)
    assert open_model(f"relay:{tmp_path}").ask(question()).value.holds


def test_usage_that_the_server_counted(tmp_path: Path) -> None:
    name = asked_and_left(tmp_path)
    filed = {
        "format": "reenact-relay-answer/1",
        "id": name,
        "answer": HOLDS,
        "usage": {"input_tokens": 12, "output_tokens": 3},
    }
    (tmp_path / f"{name}.answer.json").write_text(json.dumps(filed))
    usage = open_model(f"relay:{tmp_path}").ask(question()).usage
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (12, 3, False)


def test_figures_lie_beside_the_request(tmp_path: Path) -> None:
    asked = question()
    prompt = replace(
        asked.prompt, parts=(Text("Look:"), Image(b"one"), Image(b"two", "image/jpeg", "Figure 2"))
    )
    with pytest.raises(ModelUnreachable):
        open_model(f"relay:{tmp_path}", clock=ManualClock()).ask(replace(asked, prompt=prompt))
    request = waiting(tmp_path)[0].request
    _, first, second = request["turns"][0]["parts"]
    assert (tmp_path / first["image"]).read_bytes() == b"one"
    assert (tmp_path / second["image"]).read_bytes() == b"two"
    assert second["label"] == "Figure 2"


def test_the_wait_ends_with_the_budget(tmp_path: Path) -> None:
    clock = ManualClock()
    budget = Budget(seconds=20, clock=clock)
    model = open_model(f"relay:{tmp_path}", clock=clock, budget=budget)
    with pytest.raises(ModelUnreachable):
        model.ask(question())
    assert sum(clock.slept) < 22
    with pytest.raises(BudgetSpent):
        model.ask(question())


@pytest.mark.parametrize("trap", ["link", "fifo", "folder"])
def test_traps_in_the_folder_are_refused(tmp_path: Path, trap: str) -> None:
    import os

    secret = tmp_path / "secret"
    secret.write_text(GOOD)
    name = asked_and_left(tmp_path / "relay")
    answer = tmp_path / "relay" / f"{name}.answer.txt"
    {"link": lambda: answer.symlink_to(secret), "fifo": lambda: os.mkfifo(answer), "folder": answer.mkdir}[
        trap
    ]()
    with pytest.raises(InputError, match=r"answer\.txt"):
        open_model(f"relay:{tmp_path / 'relay'}", clock=ManualClock()).ask(question())


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="relay folder cannot be used"):
        open_model(f"relay:{tmp_path / 'file' / 'relay'}")
