from __future__ import annotations

import json

import pytest

from reenact.redact import HIDDEN, redact, redact_json, secret_values

ENVIRONMENT = {
    "MY_SERVICE_TOKEN": "tok-0123456789",
    "DB_PASSWORD": "correct horse",
    "OPENAI_API_KEY": "correct horse battery",
    "SHORT_KEY": "abc",
    "PATH": "/usr/bin:/bin",
    "KEYBOARD": "qwertyuiop",
    "MONKEY": "bananabanana",
}


def test_by_value() -> None:
    assert redact("tok-0123456789, correct horse battery; correct horse", ENVIRONMENT) == (
        f"{HIDDEN}, {HIDDEN}; {HIDDEN}"
    )
    innocent = "abc /usr/bin:/bin qwertyuiop bananabanana"
    assert redact(innocent, ENVIRONMENT) == innocent


def test_longest_first_so_that_no_tail_stays() -> None:
    assert secret_values(ENVIRONMENT) == ["correct horse battery", "tok-0123456789", "correct horse"]


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghij0123456789",
        "sk-ant-api03-abcdefghij0123456789",
        "AIzaSyA0123456789abcdefghijklmnopqrstuv",
        "ghp_0123456789abcdefghij0123456789abcd",
        "github_pat_11ABCDEFG0123456789_abcdef",
        "glpat-0123456789abcdefghij",
        "hf_0123456789abcdefghij",
        "gsk_0123456789abcdefghij",
        "xoxb-0123456789-abcdef",
        "AKIA0123456789ABCDEF",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_by_pattern(secret: str) -> None:
    assert redact(f"before {secret} after", {}) == f"before {HIDDEN} after"


def test_headers_and_addresses() -> None:
    assert redact("Authorization: Bearer abcdef0123456789", {}) == f"Authorization: Bearer {HIDDEN}"
    assert redact("http://ann:pw@host/x", {}) == f"http://{HIDDEN}@host/x"


@pytest.mark.parametrize(
    "text", ["task-lists are fine", "risk-of-overfitting-in-deep-networks", "http://host:80/a@b"]
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact(text, {}) == text


def test_json_stays_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "canary-0123456789")
    value = {"canary-0123456789": ["-----BEGIN PRIVATE KEY-----", 1, None, {"a": "x canary-0123456789"}]}
    assert json.loads(json.dumps(redact_json(value))) == {HIDDEN: [HIDDEN, 1, None, {"a": f"x {HIDDEN}"}]}
