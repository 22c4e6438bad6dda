"""The roads to providers: ways of asking for a typed answer, formats of three APIs, keys,
prices, images.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from contracts.model import GOOD, Answering, LiveModelSuite, question
from reenact.errors import MissingKey, ModelRefused, SettingsError, Stopped
from reenact.installed import install_line
from reenact.llm.ask import Image, Text, Usage
from reenact.llm.budget import Budget, price
from reenact.llm.live import open_model
from reenact.llm.names import PROVIDERS
from reenact.llm.patience import ManualClock
from reenact.types import Stop

# One worker imports the libraries of the providers, not all of them.
pytestmark = pytest.mark.xdist_group("providers")


class TestProvider(LiveModelSuite):
    """A model behind HTTP keeps the contract of every model."""

    @pytest.fixture
    def answering(self, server: Any, opened: Callable[..., Any]) -> Answering:
        def open_with(texts: Any) -> Any:
            server.script(*map(server.says, texts))
            return opened()

        return open_with


def test_native_structured_output_comes_first(server: Any, opened: Callable[..., Any]) -> None:
    server.script(server.says(GOOD))
    opened().ask(question())
    sent = server.requests[0]
    assert sent["response_format"]["json_schema"]["name"] == "Verdict"
    assert "JSON schema" in sent["messages"][0]["content"], (
        "a local server gets it in words as well"
    )
    assert sent["messages"][1]["content"] == "Does it hold?", (
        "plain text where there is nothing but text"
    )


def test_a_server_that_refuses_one_way_is_asked_in_the_next(
    server: Any, opened: Callable[..., Any]
) -> None:
    server.script(
        server.status(400, message="response_format of type json_schema is not supported"),
        server.status(400, message="this model does not support tools"),
        server.says(f"Of course: {GOOD}"),
    )
    model = opened()
    assert model.ask(question()).attempts == 1
    first, second, third = server.requests
    assert first["response_format"]["type"] == "json_schema"
    assert second["tools"][0]["function"]["name"] == "answer"
    assert "tools" not in third
    assert "response_format" not in third
    model.ask(question())
    assert len(server.requests) == 4, "the way that works is remembered"


def test_images_are_sent_where_they_are_seen(server: Any, opened: Callable[..., Any]) -> None:
    asked = question()
    parts = (
        Text("What is it?", shared=True),
        Image(b"pixels", "image/jpeg", "Figure 2"),
    )
    server.script(server.says(GOOD))
    opened().ask(replace(asked, prompt=replace(asked.prompt, parts=parts)))
    text, label, image = server.requests[0]["messages"][1]["content"]
    assert text["text"] == "What is it?"
    assert label["text"] == "Figure: Figure 2"
    assert image["image_url"]["url"].startswith("data:image/jpeg;base64,")


def test_many_threads_share_one_model(server: Any, opened: Callable[..., Any]) -> None:
    server.script(server.says(GOOD))
    model = opened(budget=(budget := Budget()))
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: model.ask(question(sample=n)), range(24)))
    assert all(answer.value.holds for answer in answers)
    assert budget.spent.calls == 24
    assert budget.spent.tokens == 24 * 110


def test_may_be_asked_inside_a_running_event_loop(server: Any, opened: Callable[..., Any]) -> None:
    import asyncio

    server.script(server.says(GOOD))
    model = opened()

    async def notebook() -> bool:
        return bool(model.ask(question()).value.holds)

    assert asyncio.run(notebook())


def test_a_stop_leaves_a_call_under_way(server: Any) -> None:
    stop = Stop()

    def never_answer(handler: object) -> None:
        stop.ask()
        server.released.wait(60)

    server.script(never_answer)
    with pytest.raises(Stopped):
        open_model(server.model, stop=stop).ask(question())


# The formats of the big three, each against a server that answers in it.

ANTHROPIC = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-6",
    "content": [{"type": "text", "text": GOOD}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 100, "output_tokens": 10},
}
ANTHROPIC_TOOL = {
    **ANTHROPIC,
    "content": [{"type": "tool_use", "id": "t", "name": "answer", "input": json.loads(GOOD)}],
    "stop_reason": "tool_use",
}
OPENAI = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "gpt-5",
    "output": [
        {
            "type": "message",
            "id": "m",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": GOOD, "annotations": []}],
        }
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 110,
    },
}
GOOGLE = {
    "candidates": [
        {
            "content": {"parts": [{"text": GOOD}], "role": "model"},
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 100,
        "candidatesTokenCount": 10,
        "totalTokenCount": 110,
    },
    "modelVersion": "gemini-2.5-flash",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("model", "variables", "reply"),
    [
        (
            "anthropic:claude-sonnet-4-6",
            ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""),
            ANTHROPIC,
        ),
        (
            "anthropic:claude-3-haiku-20240307",
            ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""),
            ANTHROPIC_TOOL,
        ),
        ("openai:gpt-5", ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"), OPENAI),
        (
            "google:gemini-2.5-flash",
            ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", ""),
            GOOGLE,
        ),
    ],
    ids=["anthropic", "anthropic by tool", "openai responses", "google"],
)
def test_formats(
    server: Any,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    variables: tuple[str, str, str],
    reply: dict[str, Any],
) -> None:
    key, base, path = variables
    monkeypatch.setenv(key, "key-for-this-test-only")
    monkeypatch.setenv(base, server.url.removesuffix("/v1") + path)
    server.script(server.status(503), server.raw(json.dumps(reply).encode()))
    clock = ManualClock()
    answer = open_model(model, clock=clock).ask(
        replace(question(), temperature=0.3, max_tokens=500)
    )
    assert answer.value.holds
    assert answer.usage == Usage(100, 10)
    assert answer.model.startswith(model.partition(":")[0] + ":")
    assert len(clock.slept) == 1, "our patience, not the client's own, tried again"
    assert len(server.requests) == 2


# Keys, packages, network, prices.


@pytest.mark.parametrize("kind", [kind for kind, provider in PROVIDERS.items() if provider.keys])
def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    for key in PROVIDERS[kind].keys:
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(MissingKey, match=PROVIDERS[kind].keys[0]) as caught:
        open_model(f"{kind}:some-model")
    assert caught.value.next_step.startswith("export ")


def test_every_prefix_is_known_to_the_library() -> None:
    from pydantic_ai.providers import infer_provider_class

    for kind, provider in PROVIDERS.items():
        if kind != "openai-compatible":
            assert infer_provider_class(provider.system)


def test_a_key_of_openai_is_never_sent_to_another_server(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", "key-of-this-server")
    server.script(server.says(GOOD))
    open_model(server.model).ask(question())
    assert server.headers[0]["authorization"] == "Bearer key-of-this-server"


def test_the_switch_forbids_models_beyond_this_machine(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-this-test-only")
    monkeypatch.setenv("REENACT_NO_NETWORK_MODELS", "0")
    opened_before = open_model("openai:gpt-5")
    monkeypatch.setenv("REENACT_NO_NETWORK_MODELS", "1")
    with pytest.raises(ModelRefused, match="REENACT_NO_NETWORK_MODELS"):
        opened_before.ask(question())
    with pytest.raises(ModelRefused, match="beyond this machine"):
        open_model("openai:gpt-5")
    server.script(server.says(GOOD))
    assert open_model(server.model).ask(question()).value.holds, "loopback is this machine"


def test_a_limit_in_money_needs_a_known_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-this-test-only")
    monkeypatch.setenv("REENACT_NO_NETWORK_MODELS", "0")
    assert open_model("openai:gpt-5", budget=Budget(money=Decimal(5)))
    assert open_model("openai:no-such-model", budget=Budget(tokens=1000))
    with pytest.raises(SettingsError, match="price of openai:no-such-model is not known"):
        open_model("openai:no-such-model", budget=Budget(money=Decimal(5)))


OPENAI = "https://api.openai.com/v1"


def test_prices_are_looked_up_and_never_borrowed() -> None:
    usage = Usage(1_000_000, 1_000_000)
    assert price(usage, "o3-mini", OPENAI) == Decimal("5.5")
    assert price(usage, "no-such-model", OPENAI) is None
    assert price(usage, "gpt-5", "http://127.0.0.1:8000/v1") is None, (
        "elsewhere it has another price"
    )
    assert price(usage, "gpt-5", "") is None


def test_cached_tokens_cost_less() -> None:
    whole, cached = (price(Usage(10_000, 0, kept), "gpt-5", OPENAI) for kept in (0, 10_000))
    assert whole is not None
    assert cached is not None
    assert cached < whole


def test_a_missing_package_is_named() -> None:
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from reenact.llm.live import open_model\n"
        "try:\n    open_model('ollama:qwen3')\n"
        "except Exception as error:\n    print(type(error).__name__, error, error.next_step)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtra This needs the package openai")
    assert install_line("models") in done.stdout


def test_importing_loads_no_provider() -> None:
    code = "import reenact.llm.live, reenact.llm.scripted, sys; print('pydantic_ai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
