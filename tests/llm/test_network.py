from __future__ import annotations

import pytest

from reenact.errors import ModelRefused
from reenact.llm.names import SWITCH, check_network, forbid_network, is_loopback


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]:1/", "http://127.9.9.9"]
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
    forbid_network()
    with pytest.raises(ModelRefused, match=SWITCH):
        check_network("m", "https://api.openai.com")
    check_network("m", "http://127.0.0.1:1/v1")
