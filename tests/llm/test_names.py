from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import ModelRefused, UnknownModel
from reenact.llm.names import (
    FORMS,
    PROVIDERS,
    SWITCH,
    ModelName,
    check_network,
    is_loopback,
    keys_present,
    parse_name,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("openai:gpt-5", ModelName("openai", "gpt-5")),
        (" anthropic:claude-x ", ModelName("anthropic", "claude-x")),
        ("google-gla:gemini", ModelName("google-gla", "gemini")),
        ("ollama:qwen3:8b", ModelName("ollama", "qwen3:8b")),
        (
            "ollama:qwen3@http://gpu:11434/v1",
            ModelName("ollama", "qwen3", "http://gpu:11434/v1"),
        ),
        (
            "openai-compatible:meta/llama-4@https://user:pw@host:8000/v1",
            ModelName("openai-compatible", "meta/llama-4", "https://user:pw@host:8000/v1"),
        ),
        ("command:llm -m 'my model'", ModelName("command", "llm -m 'my model'")),
        ("relay:/some/folder", ModelName("relay", "/some/folder")),
        ("replay:a@http.jsonl", ModelName("replay", "a@http.jsonl")),
    ],
)
def test_spellings(text: str, name: ModelName) -> None:
    assert parse_name(text) == name


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("opneai:gpt-5", "Did you mean openai:NAME?"),
        ("antropic:x", "Did you mean anthropic:NAME?"),
        ("OpenAI:gpt-5", "Did you mean openai:NAME?"),
        ("gpt-5", "A model is one of: openai:NAME"),
        ("", "relay:FOLDER"),
        ("openai:", "Write openai:NAME"),
        ("openai", "Write openai:NAME"),
        ("openai-compatible:qwen3", "openai-compatible:NAME@URL"),
        ("openai-compatible:qwen3@httpx", "openai-compatible:NAME@URL"),
        ("openai-compatible:@http://host/v1", "openai-compatible:NAME@URL"),
        ("openai:gpt-5@http://host/v1", "openai-compatible:NAME@URL"),
        ("scripted", "Scripted"),
    ],
)
def test_unknown_strings_say_what_is_possible(text: str, hint: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        parse_name(text)
    assert hint in caught.value.next_step


def test_labels_hold_no_address_no_folder_no_argument() -> None:
    texts = [
        "openai-compatible:m@http://h/v1",
        "command:/bin/x --key k",
        "relay:/home/ann/r",
        "replay:/x",
    ]
    assert [parse_name(text).label for text in texts] == [
        "openai-compatible:m",
        "command",
        "relay",
        "replay",
    ]


def test_every_form_is_spelt_as_it_is_parsed() -> None:
    for form, _ in FORMS:
        assert parse_name(form.replace("URL", "http://host/v1"))


def test_keys_are_reported_by_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", " ")
    present = keys_present()
    assert present["OPENAI_API_KEY"]
    assert not present["ANTHROPIC_API_KEY"]
    assert "secret" not in str(present)


def test_the_documentation_lists_the_same_forms() -> None:
    text = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    rows = [
        tuple(row.strip("| ").split(" | ", 1)) for row in text.splitlines() if row.startswith("| `")
    ]
    assert rows == [(f"`{form}`", what) for form, what in FORMS]
    for kind in PROVIDERS.keys() - {"google-gla", "google-vertex"}:
        assert f"`{kind}:" in text


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/v1",
        "http://localhost/v1",
        "http://[::1]:1/",
        "http://127.9.9.9",
    ],
)
def test_this_machine(url: str) -> None:
    assert is_loopback(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com",
        "http://10.0.0.1",
        "http://localhost.evil.org",
        "",
        "http://127.0.0.1.evil.org",
    ],
)
def test_beyond(url: str) -> None:
    assert not is_loopback(url)


def test_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    check_network("m", "https://api.openai.com")
    monkeypatch.setenv(SWITCH, "1")
    with pytest.raises(ModelRefused, match=SWITCH):
        check_network("m", "https://api.openai.com")
    check_network("m", "http://127.0.0.1:1/v1")
