from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from reenact.redact import HIDDEN, redact, redact_json, redact_lines, secret_values

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
    assert secret_values(ENVIRONMENT) == [
        "correct horse battery",
        "tok-0123456789",
        "correct horse",
    ]


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


@pytest.mark.parametrize("before", ["x_", "key=", "a:", "https://host/", '"', "1_", "--token="])
def test_a_shape_anywhere_in_a_word(before: str) -> None:
    for secret in (
        "sk-abcdefghij0123456789",
        "hf_0123456789abcdefghij",
        "AKIA0123456789ABCDEF",
    ):
        assert redact(f"{before}{secret}", {}) == f"{before}{HIDDEN}"


@pytest.mark.parametrize(
    "name",
    [
        "DB_PASS",
        "PGPASSWORD",
        "PASSPHRASE",
        "MYSQL_PWD",
        "NPM_AUTH",
        "AUTHORIZATION",
        "MYTOKEN",
        "KEYCLOAK_X",
        "CLIENTSECRET",
        "AWS_CREDENTIALS",
        "CREDENTIAL_BLOB",
        "GITHUB_PAT",
        "apikey",
    ],
)
def test_names_that_hint_at_a_secret(name: str) -> None:
    assert redact("it is s3cretValue!", {name: "s3cretValue!"}) == f"it is {HIDDEN}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PWD", "/work/that/was/removed"),
        ("OLDPWD", "/"),
        ("SSH_AUTH_SOCK", str(Path(__file__))),
        ("XAUTHORITY", str(Path(__file__).parent)),
        ("GIT_AUTHOR_NAME", "Jane Q. Public 2nd"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("TOKENIZER", "bert-base-uncased-v1"),
        ("MAX_TOKENS", "4096"),
        ("USE_AUTH", "true"),
        ("DB_PASS", "postgres"),
        ("COMPASS", "northnorthwest"),
    ],
)
def test_values_that_are_no_secrets_stay(name: str, value: str) -> None:
    assert redact(f"see {value}.", {name: value}) == f"see {value}."


def test_a_log_is_redacted_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "canary-0123456789")
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nAAAA\n-----END RSA PRIVATE KEY-----\n"
    sink = io.BytesIO()
    redact_lines(io.BytesIO(f"a canary-0123456789\n{block}after\n".encode() + b"\xff\n"), sink)
    assert sink.getvalue() == f"a {HIDDEN}\n{HIDDEN}\nafter\n".encode() + b"\xff\n"


def test_headers_and_addresses() -> None:
    assert redact("Authorization: Bearer abcdef0123456789", {}) == f"Authorization: Bearer {HIDDEN}"
    assert redact("http://ann:pw@host/x", {}) == f"http://{HIDDEN}@host/x"


@pytest.mark.parametrize(
    "text",
    [
        "task-lists are fine",
        "risk-of-overfitting-in-deep-networks",
        "http://host:80/a@b",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact(text, {}) == text


def test_json_stays_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "canary-0123456789")
    value = {
        "canary-0123456789": [
            "-----BEGIN PRIVATE KEY-----",
            1,
            None,
            {"a": "x canary-0123456789"},
        ]
    }
    assert json.loads(json.dumps(redact_json(value))) == {
        HIDDEN: [HIDDEN, 1, None, {"a": f"x {HIDDEN}"}]
    }


@pytest.mark.parametrize(
    "address",
    [
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyz",
        "https://discordapp.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyz",
        "https://acme.webhook.office.com/webhookb2/0000-1111@2222/IncomingWebhook/3333/4444",
        "https://outlook.office.com/webhook/0000-1111@2222/IncomingWebhook/3333/4444",
        "https://hooks.zapier.com/hooks/catch/1234567/abcdefg",
        "https://hooks.slack-gov.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://canary.discord.com/api/v10/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyz",
        "https://api.telegram.org/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage",
        "https://open.feishu.cn/open-apis/bot/v2/hook/00000000-1111-2222-3333-444444444444",
        "https://maker.ifttt.com/trigger/done/with/key/abcdefghijklmnopqrstu",
        "https://events.pagerduty.com/integration/0123456789abcdef0123456789abcdef/enqueue",
        "https://chat.example.org/hooks/xo8kr3j5jbyu8xi7zqsnn6tuoe",
        "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa",
        "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=AAAAAAAABBBBBBBBCCCC&token=ddddddddeeee",
        "https://acme.logic.azure.com/workflows/1/triggers/manual/paths/invoke?sv=1.0&sig=abcDEF123_-456",
        "https://chat.example.com/v1/messages?token=abcDEF123456",
    ],
)
def test_an_address_of_a_web_hook_is_a_secret(address: str) -> None:
    shown = redact(f"posted to {address}, then", {})
    assert HIDDEN in shown
    assert address[-8:] not in shown
    assert shown.startswith("posted to https://")


@pytest.mark.parametrize(
    "name", ["SLACK_WEBHOOK", "WEBHOOK", "TEAMS_WEBHOOK_URL", "PRIVATE", "PRIVATE_PART"]
)
def test_names_of_web_hooks_and_private_values_say_secret(name: str) -> None:
    value = "https://chat.example.com/in/q1w2e3"
    assert redact(f"sent to {value}!", {name: value}) == f"sent to {HIDDEN}!"


def test_ordinary_addresses_stay() -> None:
    text = "https://slack.com/help and https://discord.com/channels/1 and https://x.org/a?page=12345678"
    assert redact(text, {}) == text
