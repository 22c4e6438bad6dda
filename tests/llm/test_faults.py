"""Every fault a provider has shown in the wild, over real HTTP, against a server that
misbehaves so.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, field_validator

from contracts.model import GOOD, question
from reenact.errors import (
    AnswerUnusable,
    ModelError,
    ModelRefused,
    ModelUnreachable,
    PromptTooLong,
)
from reenact.llm.ask import Prompt, Request, Text
from reenact.llm.budget import Budget
from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock, Patience

Opened = Callable[..., Any]
QUICK = Patience(tries=10, idle_s=0.4, answer_s=0.8)
"""Real seconds, for the two faults that consist in passing time."""


# Answers that cannot be used. Each is repaired by a good one, and billed.


BAD_ANSWERS = {
    "empty": (lambda s: s.says(""), "empty"),
    "whitespace": (lambda s: s.says(" \n\t "), "empty"),
    "null": (lambda s: s.says(None), "empty"),
    "prose": (lambda s: s.says("Sorry, I would rather not."), "no JSON object"),
    "truncated by length": (
        lambda s: s.says('{"holds": true, "why": "because', "length"),
        "cut off",
    ),
    "truncated": (lambda s: s.says('{"holds": true, "why": "because'), "breaks off"),
    "invalid JSON": (lambda s: s.says('{"holds": yes, "why": "x"}'), "not valid"),
    "wrong schema": (
        lambda s: s.says('{"holds": "perhaps", "why": "x"}'),
        "valid boolean",
    ),
    "wrong language": (
        lambda s: s.says('{"hält": true, "warum": "x"}'),
        "Field required",
    ),
    "not a number": (lambda s: s.says('{"holds": NaN, "why": "x"}'), "NaN"),
    "huge integer": (
        lambda s: s.says('{"holds": 1' + "0" * 400 + ', "why": "x"}'),
        "64 bits",
    ),
    "repetition": (lambda s: s.says("yes and " * 3000), "repeated itself"),
    "endless repetition": (
        lambda s: s.says("yes and " * 3000, "length"),
        "repeated itself",
    ),
    "unknown tool": (lambda s: s.calls(("1", "delete_all", "{}")), "delete_all"),
    "duplicate tool ids": (lambda s: s.calls(*_offers(2, same_id=True)), "2 different"),
    "ten tool calls": (lambda s: s.calls(*_offers(10)), "10 different"),
}


def _offers(count: int, *, same_id: bool = False) -> list[tuple[str, str, str]]:
    """Calls to the answer tool, each with another answer."""
    answers = [json.dumps({"holds": True, "why": str(nth)}) for nth in range(count)]
    return [("1" if same_id else str(nth), "answer", answer) for nth, answer in enumerate(answers)]


@pytest.mark.sample(8)
@pytest.mark.parametrize(("bad", "complaint"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_bad_answers_are_sent_back_with_the_reason(
    server: Any, opened: Opened, bad: Callable[[Any], Any], complaint: str
) -> None:
    budget = Budget()
    server.script(bad(server), server.says(GOOD))
    answer = opened(budget=budget).ask(question())
    assert answer.value.holds
    assert answer.attempts == 2
    assert budget.spent.tokens == 220, "the bad answer is paid for too"
    assert complaint in server.requests[1]["messages"][-1]["content"]


def test_duplicate_tool_ids_with_one_answer(server: Any, opened: Opened) -> None:
    server.script(server.calls(("1", "answer", GOOD), ("1", "answer", GOOD)))
    assert opened().ask(question()).attempts == 1


def test_code_fence_inside_code_fence(server: Any, opened: Opened) -> None:
    inner = json.dumps({"holds": True, "why": "```python\nprint('```')\n```"})
    server.script(server.says(f"```json\n{inner}\n```"))
    assert opened().ask(question()).value.why.endswith("\n```")


def test_bad_answers_in_a_row_stop_with_the_reason(server: Any, opened: Opened) -> None:
    server.script(server.says("never JSON"))
    with pytest.raises(AnswerUnusable, match=r"3 answers in a row .* no JSON object"):
        opened().ask(question())
    assert len(server.requests) == 3


def test_a_cut_off_answer_gets_more_tokens(server: Any, opened: Opened) -> None:
    server.script(server.says("{", "length"), server.says(GOOD))
    opened().ask(replace(question(), max_tokens=100))
    assert [sent["max_tokens"] for sent in server.requests] == [100, 200]


class Fix(BaseModel):
    """An answer whose validators know what exists."""

    package: Literal["torch", "numpy"]
    file: str

    @field_validator("file")
    @classmethod
    def _exists(cls, file: str) -> str:
        if file not in ("train.py", "model.py"):
            raise ValueError(f"there is no file {file}; the files are train.py and model.py")
        return file


def test_hallucinated_file_and_package(server: Any, opened: Opened) -> None:
    server.script(
        server.says('{"package": "torchx-pro", "file": "train.py"}'),
        server.says('{"package": "torch", "file": "trainer.py"}'),
        server.says('{"package": "torch", "file": "train.py"}'),
    )
    fix = opened().ask(Request("s", Prompt("p", 1, "sys", (Text("?"),)), Fix))
    assert (fix.value.file, fix.attempts) == ("train.py", 3)
    assert "'torch' or 'numpy'" in server.requests[1]["messages"][-1]["content"]
    assert "the files are train.py and model.py" in server.requests[2]["messages"][-1]["content"]


# Refusals: final, sent once, never tried again.


FINAL = {
    "refusal": (
        lambda s: s.says(None, refusal="I cannot."),
        ModelRefused,
        "refused to answer .*: I cannot",
    ),
    "content filter": (
        lambda s: s.says("", "content_filter"),
        ModelRefused,
        "refused to answer",
    ),
    "400": (lambda s: s.status(400), ModelRefused, "refused the request"),
    "context overflow": (
        lambda s: s.status(400, code="context_length_exceeded"),
        PromptTooLong,
        "does not fit",
    ),
    "of a local server": (
        lambda s: s.status(400, message="exceeds context size"),
        PromptTooLong,
        "does not fit",
    ),
    "413": (lambda s: s.status(413), PromptTooLong, "does not fit"),
    "401": (lambda s: s.status(401), ModelRefused, "refused the key"),
    "403": (lambda s: s.status(403), ModelRefused, "refused the key"),
    "402": (lambda s: s.status(402), ModelRefused, "used up"),
    "empty account": (
        lambda s: s.status(429, code="insufficient_quota"),
        ModelRefused,
        "used up",
    ),
    "asked not to": (
        lambda s: s.status(429, {"x-should-retry": "false"}),
        ModelRefused,
        "refused the request",
    ),
    "model retired": (
        lambda s: s.status(404, code="model_not_found"),
        ModelRefused,
        "retired",
    ),
    "410": (lambda s: s.status(410), ModelRefused, "refused the request"),
}


@pytest.mark.parametrize(("behaviour", "kind", "words"), FINAL.values(), ids=FINAL)
def test_final_faults(
    server: Any,
    opened: Opened,
    clock: ManualClock,
    behaviour: Any,
    kind: type[ModelError],
    words: str,
) -> None:
    server.script(behaviour(server))
    with pytest.raises(kind, match=words) as caught:
        opened().ask(question())
    assert type(caught.value) is kind
    assert not caught.value.retryable
    assert len(server.requests) == 1
    assert clock.slept == []


# Faults that pass: tried again.


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_passing_status(server: Any, opened: Opened, clock: ManualClock, status: int) -> None:
    server.script(server.status(status), server.says(GOOD))
    assert opened().ask(question()).value.holds
    assert len(server.requests) == 2
    assert 0.5 <= clock.slept[0] <= 1


def test_a_server_that_stays_broken_is_given_up(server: Any, opened: Opened) -> None:
    server.script(server.status(503))
    with pytest.raises(ModelUnreachable, match="it answered 503"):
        opened().ask(question())
    assert len(server.requests) == 6


@pytest.mark.sample(8)
@pytest.mark.parametrize("status", [408, 409, 429, 503])
@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "864000"}, 120.0),
        ({"Retry-After": "1" + "0" * 300}, 120.0),
    ],
    ids=["seconds", "milliseconds", "ten days", "absurd"],
)
def test_retry_after(
    server: Any,
    opened: Opened,
    clock: ManualClock,
    status: int,
    headers: dict[str, str],
    waited: float,
) -> None:
    server.script(server.status(status, headers), server.says(GOOD))
    opened().ask(question())
    assert clock.slept == [pytest.approx(waited)]


def test_retry_after_a_date(server: Any, opened: Opened, clock: ManualClock) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90))
    server.script(server.status(429, {"Retry-After": later}), server.says(GOOD))
    opened().ask(question())
    assert 0 < clock.slept[0] <= 90


@pytest.mark.parametrize(
    "absurd", ["-5", "soon", "nan", "inf", "Thu, 99 Foo 2030 99:99:99 GMT", ""]
)
def test_retry_after_that_says_nothing(
    server: Any, opened: Opened, clock: ManualClock, absurd: str
) -> None:
    server.script(server.status(429, {"Retry-After": absurd}), server.says(GOOD))
    opened().ask(question())
    assert 0.5 <= clock.slept[0] <= 1


@pytest.mark.parametrize(
    "broken",
    [
        lambda s: s.reset(),
        lambda s: s.raw(b"<html>Bad gateway</html>", "text/html"),
        lambda s: s.raw(b'{"id": "x", "cho'),
        lambda s: s.raw(b"\xff\xfe\x00"),
        lambda s: s.body({"choices": []}),
        lambda s: s.body({"choices": [{"index": 0, "finish_reason": "stop", "message": None}]}),
        lambda s: s.raw(b"[]"),
        lambda s: s.raw(b"null"),
    ],
    ids=[
        "reset",
        "html",
        "half a body",
        "binary",
        "no choices",
        "no message",
        "a list",
        "null",
    ],
)
def test_replies_that_cannot_be_read(
    server: Any, opened: Opened, clock: ManualClock, broken: Any
) -> None:
    server.script(broken(server), server.says(GOOD))
    assert opened().ask(question()).value.holds
    assert len(clock.slept) == 1


def test_nobody_listens(clock: ManualClock) -> None:
    model = open_model(
        "openai-compatible:x@http://127.0.0.1:9/v1",
        clock=clock,
        patience=Patience(tries=2),
    )
    with pytest.raises(ModelUnreachable, match="the connection failed"):
        model.ask(question())


def test_a_stalled_server_is_left(server: Any, opened: Opened) -> None:
    server.script(server.stall(), server.says(GOOD))
    assert opened(patience=QUICK).ask(question()).value.holds


def test_a_slow_drip_is_left(server: Any, opened: Opened) -> None:
    server.script(server.drip(), server.says(GOOD))
    assert opened(patience=QUICK).ask(question()).value.holds


def test_a_reply_without_usage_is_estimated(server: Any, opened: Opened) -> None:
    message = {"role": "assistant", "content": GOOD}
    server.script(server.body({"choices": [{"index": 0, "message": message}], "usage": None}))
    usage = opened().ask(question()).usage
    assert usage.estimated
    assert usage.input_tokens > 10


def test_price_unknown(server: Any, opened: Opened) -> None:
    budget = Budget()
    server.script(server.says(GOOD))
    assert opened(budget=budget).ask(question()).cost is None
    assert budget.spent.unpriced == 1


# TLS and clocks.


def test_tls_spoken_to_a_plain_server(server: Any, clock: ManualClock) -> None:
    model = open_model(server.model.replace("http://", "https://"), clock=clock)
    with pytest.raises(ModelUnreachable, match="cannot be trusted") as caught:
        model.ask(question())
    assert not caught.value.retryable
    assert "http or https" in caught.value.next_step
    assert clock.slept == []


@pytest.mark.parametrize(
    ("starts", "ends", "advice"),
    [(-20, -10, "clock"), (10, 20, "clock"), (-10, 10, "certificates")],
    ids=["expired", "not yet valid: clock skew", "nobody vouches for it"],
)
def test_tls_that_cannot_be_trusted(
    tmp_path: Path,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
    starts: int,
    ends: int,
    advice: str,
) -> None:
    certificate = _certificate(tmp_path, starts, ends)
    if advice == "clock":
        # The dates are looked at only when somebody vouches for the certificate.
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    tls = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    tls.socket = context.wrap_socket(tls.socket, server_side=True)
    threading.Thread(target=tls.serve_forever, args=(0.02,), daemon=True).start()
    model = open_model(
        f"openai-compatible:x@https://127.0.0.1:{tls.server_address[1]}/v1", clock=clock
    )
    try:
        with pytest.raises(ModelUnreachable, match="cannot be trusted") as caught:
            model.ask(question())
    finally:
        tls.shutdown()
        tls.server_close()
    assert advice in caught.value.next_step
    assert clock.slept == []


def _certificate(folder: Path, starts_days: int, ends_days: int) -> Path:
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now + timedelta(days=starts_days))
        .not_valid_after(now + timedelta(days=ends_days))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "tls.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file
