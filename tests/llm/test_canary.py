"""A key in the environment must come out nowhere: recording, relay file, error, log, repr,
prompt.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.model import GOOD, question
from reenact.errors import ReenactError
from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock, Patience
from reenact.llm.scripted import Scripted

pytestmark = pytest.mark.xdist_group("providers")
CANARY = "sk-canary-5d41402abc4b2a76b9719d911017c592"
LEAK = f"my key is {CANARY}"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("OPENAI_COMPATIBLE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, CANARY)


def shown(error: BaseException) -> str:
    """All that an error and its causes would show."""
    causes: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in causes:
        causes.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return " ".join(f"{cause!r} {cause} {vars(cause)}" for cause in causes)


def test_recordings(tmp_path: Path, server: Any, opened: Callable[..., Any], caplog: Any) -> None:
    file = tmp_path / "run.jsonl"
    server.script(server.says(f'{{"holds": true, "why": "{LEAK}"}}'), server.says(LEAK))
    model = opened(record_to=file)
    model.ask(question("a", words=LEAK))
    with pytest.raises(ReenactError) as caught:
        model.ask(question("b"))
    assert server.headers[0]["authorization"] == f"Bearer {CANARY}", (
        "the key reaches its own server"
    )
    assert CANARY not in str(server.requests), "and is in no prompt, not even as an echo"
    assert CANARY not in file.read_text()
    assert CANARY not in shown(caught.value)
    assert CANARY not in caplog.text + repr(model)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500])
def test_errors_of_a_provider_that_repeats_the_key(
    server: Any, opened: Callable[..., Any], status: int
) -> None:
    server.script(
        server.status(status, message=f"Incorrect API key provided: {CANARY}", code=CANARY)
    )
    with pytest.raises(ReenactError) as caught:
        opened(patience=Patience(tries=1)).ask(question())
    assert CANARY not in shown(caught.value)


def test_relay_files(tmp_path: Path) -> None:
    model = open_model(f"relay:{tmp_path}", clock=ManualClock(), patience=Patience(relay_s=1))
    with pytest.raises(ReenactError) as caught:
        model.ask(question(words=LEAK))
    for file in tmp_path.iterdir():
        assert CANARY not in file.read_text()
    assert CANARY not in shown(caught.value)


def test_commands_get_no_secret_in_the_prompt_and_repeat_none(tmp_path: Path) -> None:
    script = tmp_path / "assistant.py"
    script.write_text(
        "import os, sys, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(sys.stdin.read())\n"
        "print('wrong key', os.environ['OPENAI_API_KEY'], file=sys.stderr)\n"
        "sys.exit(2)\n"
    )
    import sys

    with pytest.raises(ReenactError, match=r"wrong key \[redacted\]") as caught:
        open_model(f"command:{sys.executable} {script}").ask(question(words=LEAK))
    assert CANARY not in (tmp_path / "seen").read_text()
    assert CANARY not in shown(caught.value)


def test_bad_answers_are_reported_without_it() -> None:
    with pytest.raises(ReenactError) as caught:
        Scripted([f'{{"{CANARY}": 1, "holds": true, "why": {{"{CANARY}": 2}}}}'] * 3).ask(
            question()
        )
    assert CANARY not in shown(caught.value)


def test_good_answers_stay_as_they_are() -> None:
    assert Scripted([GOOD]).ask(question()).value.holds
