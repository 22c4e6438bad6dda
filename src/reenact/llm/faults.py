"""What went wrong at a provider, in our words: does it pass, or is it final?

Passing (tried again): 408, 409, 425, 429 and 5xx, broken and silent connections, replies that cannot be
read. Final: bad keys, empty accounts, models that are gone, requests that are refused, TLS that cannot be
trusted. A request too long for the model has its own error, because a caller can shorten it.
"""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

from pydantic_ai import exceptions as library

from reenact.errors import ModelError, ModelRefused, ModelUnreachable, PromptTooLong
from reenact.llm.ask import Transient
from reenact.llm.prompts import capped, stripped
from reenact.redact import redact

PASSING_STATUS = frozenset({408, 409, 425, 429})
TOO_LONG = ("context length", "context size", "context window", "prompt is too long", "too many tokens")
FORMAT_WORDS = ("response_format", "json_schema", "structured output", "grammar", "schema", "tool")
SURE_FORMAT_WORDS = ("response_format", "json_schema", "grammar")
"""What a status of 500 must say before it is taken for more than a passing fault."""


def translate(error: BaseException, name: str) -> Transient | ModelError:
    """The error to raise in place of a library's."""
    if (tls := _tls(error)) is not None:
        return _distrusted(tls, name)
    if _too_long(error):
        return PromptTooLong(
            f"The request does not fit the context of {name}: {_reason(error)}",
            next_step="Use a model with a longer context, or give it less to read.",
        )
    if (final := _final(error, name)) is not None:
        return final
    if isinstance(error, library.ModelHTTPError):
        return Transient(f"it answered {error.status_code}", retry_after_s=error.retry_after)
    if isinstance(error, library.ModelTimeoutError | library.ModelRequestTimeout):
        return Transient("it did not answer in time")
    if isinstance(error, library.ModelConnectionError):
        return Transient(f"the connection failed ({_reason(error)})")
    return Transient(f"its reply could not be read ({type(error).__name__})", billed=True)


def rejects_format(error: BaseException) -> bool:
    """Whether the server refused the way we asked for a typed answer, so that another way may work."""
    if isinstance(error, library.UserError):
        return "output is not supported" in str(error)
    if not isinstance(error, library.ModelHTTPError) or error.status_code not in (400, 404, 422, 500, 501):
        return False
    words = SURE_FORMAT_WORDS if error.status_code >= 500 else FORMAT_WORDS
    body = str(error.body).lower()
    return not _too_long(error) and any(word in body for word in words)


def _final(error: BaseException, name: str) -> ModelError | None:
    why = _reason(error)
    match error:
        case library.ModelAuthenticationError():
            return ModelRefused(f"{name} refused the key: {why}", next_step="Check the key and its rights.")
        case library.ModelQuotaExceededError():
            return ModelRefused(f"The account of {name} is used up: {why}", next_step="Top up the account.")
        case library.ModelNotFoundError():
            hint = getattr(error, "suggested_model_id", None)
            return ModelRefused(
                f"The model {name} is not there (retired, misspelt, or another address): {why}",
                next_step=f"Did you mean {hint}?" if hint else "Choose a model that the provider serves.",
            )
        case library.ModelHTTPError() if error.provider_retry_hint is False or not _passes(error.status_code):
            return ModelRefused(f"{name} refused the request ({error.status_code}): {why}")
        case library.ModelRequestRejectedError() | library.ContentFilterError() | library.UserError():
            return ModelRefused(f"{name} refused the request: {why}")
    return None


def _passes(status: int) -> bool:
    return status in PASSING_STATUS or status >= 500


def _too_long(error: BaseException) -> bool:
    if isinstance(error, library.ModelContextWindowExceededError):
        return True
    if not isinstance(error, library.ModelHTTPError) or error.status_code not in (400, 413, 422):
        return False
    return error.status_code == 413 or any(word in str(error.body).lower() for word in TOO_LONG)


def _tls(error: BaseException) -> ssl.SSLError | None:
    broken_off = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
    found = (cause for cause in _causes(error) if isinstance(cause, ssl.SSLError))
    return next((cause for cause in found if not isinstance(cause, broken_off)), None)


def _distrusted(error: ssl.SSLError, name: str) -> ModelUnreachable:
    why = getattr(error, "verify_message", "") or error.reason or "TLS error"
    dated = "expired" in why or "not yet valid" in why
    fault = ModelUnreachable(
        f"The connection to {name} cannot be trusted: {why}.",
        next_step=f"Check this machine's clock; it says {datetime.now(UTC):%Y-%m-%d}."
        if dated
        else "Check the address (http or https?) and the certificates of this machine.",
    )
    fault.retryable = False
    return fault


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _reason(error: BaseException) -> str:
    """What the provider answered, harmless and short."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else body
    text = inner.get("message", inner) if isinstance(inner, dict) else inner or error
    return capped(redact(stripped(str(text))), 300) or "no reason given"
