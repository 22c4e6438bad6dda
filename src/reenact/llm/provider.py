"""Models behind an API, through pydantic-ai. Loaded only when one is opened.

Answers are asked for in the strictest way the model has: native structured output, else a tool
call, else JSON in words. A server that refuses one way is asked in the next, and that is
remembered. Keys are read from the environment by the provider's client and are kept nowhere else.

pydantic-ai is asynchronous and its connections belong to the loop that opened them, while our
callers are plain functions in any thread, perhaps inside a notebook's own loop. So one event loop
in one background thread, started on first use, serves all provider calls of the process.

What went wrong there is put in our words: does it pass, or is it final? Passing (tried again): 408,
409, 425, 429 and 5xx, broken and silent connections, replies that cannot be read. Final: bad keys,
empty accounts, models that are gone, requests that are refused, TLS that cannot be trusted. A
request too long for the model has its own error, because a caller can shorten it.
"""

import asyncio
import concurrent.futures
import json
import os
import ssl
import threading
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Literal, TypeVar

from pydantic_ai import BinaryContent, CachePoint, direct, messages
from pydantic_ai import exceptions as library
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import (
    ModelRequestParameters,
    create_async_httpx2_client,
    infer_model,
)
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from reenact import errors
from reenact.llm import names
from reenact.llm.ask import Call, Part, Reply, Text, Transient, Usage, unseen
from reenact.llm.budget import price
from reenact.llm.patience import Patience
from reenact.llm.prompts import capped, stripped
from reenact.redact import redact
from reenact.types import Stop

ANSWER_TOOL = "answer"
FINISHES: Mapping[Any, Literal["length", "refused"]] = {
    "length": "length",
    "content_filter": "refused",
}
PASSING_STATUS = frozenset({408, 409, 425, 429})
TOO_LONG = (
    "context length",
    "context size",
    "context window",
    "prompt is too long",
    "too many tokens",
)
FORMAT_WORDS = (
    "response_format",
    "json_schema",
    "structured output",
    "grammar",
    "schema",
    "tool",
)
SURE_FORMAT_WORDS = ("response_format", "json_schema", "grammar")
"""What a status of 500 must say before it is taken for more than a passing fault."""
LIBRARY_FAULTS = (
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What pydantic-ai and the SDKs under it raise, on replies of any shape."""


class ProviderWire:
    """One model behind an API."""

    def __init__(
        self,
        name: names.ModelName,
        patience: Patience,
        stop: Stop,
    ) -> None:
        names.require_key(name)
        self.name = name.label
        self._kind = name.kind
        self._patience = patience
        self._stop = stop
        try:
            self._model = _model(name)
        except ImportError:
            raise errors.MissingExtra(
                names.PROVIDERS[name.kind].package,
                "models",
            ) from None
        except library.UserError as error:
            why = redact(str(error)).partition(".")[0]
            raise errors.MissingKey(f"The model {name.label} cannot be opened: {why}.") from None
        self._url = self._model.base_url or ""
        names.check_network(self.name, self._url)
        profile = self._model.profile
        known = {
            "native": profile.get("supports_json_schema_output"),
            "tool": profile.get("supports_tools", True),
        }
        self._ways = [
            *(way for way, works in known.items() if works),
            "words",
        ]
        self._reasons = profile.get("thinking_always_enabled") or profile.get(
            "thinking_enabled_by_default"
        )
        """Models that think set their own temperature and reject ours."""

    @property
    def billed(self) -> bool:
        return not names.is_loopback(self._url)

    def price(self, usage: Usage) -> Decimal | None:
        """By the price list, where it knows this model at this address."""
        return price(usage, self._model.model_name, self._url)

    def send(self, call: Call, within_s: float) -> Reply:
        names.check_network(self.name, self._url)
        while True:
            way = self._ways[0]
            try:
                return self._read(
                    _run(
                        self._request(call, way, within_s),
                        self._stop,
                    )
                )
            except LIBRARY_FAULTS as error:
                if not rejects_format(error) or len(self._ways) == 1:
                    # Severed from its cause, which may hold headers and with them the key.
                    raise translate(error, self.name) from None
                self._ways = [other for other in self._ways if other != way] or ["words"]

    async def _request(
        self,
        call: Call,
        way: str,
        within_s: float,
    ) -> messages.ModelResponse:
        limit_s = max(0.01, min(self._patience.answer_s, within_s))
        silent_s = min(self._patience.idle_s, limit_s)
        settings = ModelSettings(max_retries=0, timeout=silent_s, request_timeout=limit_s)
        if call.temperature is not None and not self._reasons:
            settings["temperature"] = call.temperature
        if call.max_tokens is not None:
            settings["max_tokens"] = call.max_tokens
        ask = partial(direct.model_request, model_request_parameters=_parameters(call, way))
        return await ask(
            self._model,
            self._messages(call, way),
            model_settings=settings,
        )

    def _messages(self, call: Call, way: str) -> list[messages.ModelMessage]:
        # A local server may accept a schema and ignore it, so it gets it in words as well.
        in_words = way == "words" or self._kind in ("openai-compatible", "ollama")
        system = f"{call.system}\n\n{call.schema_words}" if in_words else call.system
        said: list[messages.ModelMessage] = []
        for turn in call.turns:
            if turn.role == "user":
                content = [item for part in turn.parts for item in self._content(part)]
                asked = messages.UserPromptPart(_joined(content))
                said.append(messages.ModelRequest(parts=[asked], instructions=system))
            else:
                texts = [
                    messages.TextPart(part.text) for part in turn.parts if isinstance(part, Text)
                ]
                said.append(messages.ModelResponse(parts=texts))
        return said

    def _content(self, part: Part) -> list[messages.UserContent]:
        if isinstance(part, Text):
            if part.shared:
                return [part.text, CachePoint()]
            return [part.text]
        if not self._model.profile.get("supports_image_input", True):
            return [unseen(part)]
        label = []
        if part.label:
            label = [f"Figure: {part.label}"]
        return [*label, BinaryContent(part.data, media_type=part.media_type)]

    def _read(self, response: messages.ModelResponse) -> Reply:
        calls = [part for part in response.parts if isinstance(part, messages.ToolCallPart)]
        answers = [part.args for part in calls if part.tool_name == ANSWER_TOOL]
        refusal = (response.provider_details or {}).get("refusal")
        name = response.model_name or self._model.model_name
        counted = response.usage
        known = not counted.unmeasured_requests and (counted.input_tokens or counted.output_tokens)
        usage = Usage(counted.input_tokens, counted.output_tokens, counted.cache_read_tokens)
        offers = tuple(one if isinstance(one, str) else json.dumps(one or {}) for one in answers)
        strays = tuple(_shown(part.tool_name) for part in calls if part.tool_name != ANSWER_TOOL)
        reply = Reply(
            str(refusal or response.text or ""),
            f"{self._kind}:{_shown(name)}",
            offers,
            strays,
        )
        reply = replace(
            reply,
            finish=FINISHES.get(response.finish_reason, "stop"),
        )
        if known:
            return replace(
                reply,
                usage=usage,
                cost=price(counted, name, self._url),
            )
        return reply


def _model(name: names.ModelName) -> LibraryModel:
    if name.kind == "openai-compatible":
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        server = OpenAICompatibleProvider(
            name.kind,
            base_url=name.url,
            api_key=os.environ.get(names.COMPATIBLE_KEY) or None,
            http_client=_client(name.url),
            # Older servers know only the older name of the limit.
            profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
        )
        return OpenAIChatModel(name.rest, provider=server)
    if name.kind == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        url = name.url or os.environ.get("OLLAMA_BASE_URL") or names.OLLAMA_URL
        return OllamaModel(
            name.rest, provider=OllamaProvider(base_url=url, http_client=_client(url))
        )
    return infer_model(f"{names.PROVIDERS[name.kind].system}:{name.rest}")


def _client(url: str) -> Any:
    """A client that goes straight to a server on this machine, past any proxy of the
    environment.
    """
    if not names.is_loopback(url):
        return None
    import httpx2

    return create_async_httpx2_client(transport=httpx2.AsyncHTTPTransport())


def _parameters(call: Call, way: str) -> ModelRequestParameters:
    schema = dict(call.schema)
    if way == "native":
        wanted = OutputObjectDefinition(json_schema=schema, name=call.schema_name)
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    if way == "tool":
        tool = ToolDefinition(
            name=ANSWER_TOOL,
            parameters_json_schema=schema,
            description="Give the answer.",
            kind="output",
        )
        return ModelRequestParameters(
            output_mode="tool", output_tools=[tool], allow_text_output=False
        )
    return ModelRequestParameters()


def _joined(content: list[messages.UserContent]) -> str | list[messages.UserContent]:
    """One text where there is nothing but text: some servers read nothing else."""
    texts = [item for item in content if isinstance(item, str)]
    if len(texts) == len(content):
        return "\n\n".join(texts)
    return content


def _shown(name: str) -> str:
    """A name that a server gave, short and without the folders some local servers put before it."""
    name = capped(stripped(name), 100)
    if name.startswith("/"):
        return PurePosixPath(name).name
    return name


R = TypeVar("R")
LOOK_S = 0.2
"""How often a waiting caller looks whether the user asked to stop."""

_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}
"""By process id: a forked child inherits the loop but not the thread that runs it."""


def _run(work: Coroutine[Any, Any, R], stop: Stop) -> R:
    """Run the coroutine over there and wait for it; cancel it when the user stops or interrupts."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="reenact-models", daemon=True).start()
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        while not stop.asked:
            done, _ = concurrent.futures.wait([future], timeout=LOOK_S)
            if done:
                return future.result()
    finally:
        future.cancel()
    raise errors.ended_by(stop, "Stopped while waiting for a model.")


def translate(error: BaseException, name: str) -> Transient | errors.ModelError:
    """The error to raise in place of a library's."""
    broken_off = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, broken_off):
            why = getattr(cause, "verify_message", "") or cause.reason or "TLS error"
            step = "Check the address (http or https?) and the certificates of this machine."
            if "expired" in why or "not yet valid" in why:
                step = f"Check this machine's clock; it says {datetime.now(UTC):%Y-%m-%d}."
            sentence = f"The connection to {name} cannot be trusted: {why}."
            distrusted = errors.ModelUnreachable(sentence, next_step=step)
            distrusted.retryable = False
            return distrusted
    if _too_long(error):
        return errors.PromptTooLong(
            f"The request does not fit the context of {name}: {_reason(error)}",
            next_step="Use a model with a longer context, or give it less to read.",
        )
    if final := _final(error, name):
        return errors.ModelRefused(final[0], next_step=final[1])
    if isinstance(error, library.ModelHTTPError):
        return Transient(f"it answered {error.status_code}", retry_after_s=error.retry_after)
    if isinstance(error, library.ModelTimeoutError | library.ModelRequestTimeout):
        return Transient("it did not answer in time")
    if isinstance(error, library.ModelConnectionError):
        return Transient(f"the connection failed ({_reason(error)})")
    return Transient(
        f"its reply could not be read ({type(error).__name__})",
        billed=True,
    )


def rejects_format(error: BaseException) -> bool:
    """Whether the server refused the way we asked for a typed answer, so that another way may
    work.
    """
    if isinstance(error, library.UserError):
        return "output is not supported" in str(error)
    if not isinstance(error, library.ModelHTTPError) or error.status_code not in (
        400,
        404,
        422,
        500,
        501,
    ):
        return False
    words = SURE_FORMAT_WORDS if error.status_code >= 500 else FORMAT_WORDS
    body = str(error.body).lower()
    return not _too_long(error) and any(word in body for word in words)


def _final(error: BaseException, name: str) -> tuple[str, str] | None:
    """What was refused and what to do about it, where trying again is of no use."""
    why = _reason(error)
    match error:
        case library.ModelAuthenticationError():
            return f"{name} refused the key: {why}", "Check the key and its rights."
        case library.ModelQuotaExceededError():
            return f"The account of {name} is used up: {why}", "Top up the account."
        case library.ModelNotFoundError():
            hint = getattr(error, "suggested_model_id", None)
            step = f"Did you mean {hint}?" if hint else "Choose a model that the provider serves."
            return (
                f"The model {name} is not there (retired, misspelt, or another address): {why}",
                step,
            )
        case library.ModelHTTPError() if error.provider_retry_hint is False or not (
            error.status_code in PASSING_STATUS or error.status_code >= 500
        ):
            return f"{name} refused the request ({error.status_code}): {why}", ""
        case (
            library.ModelRequestRejectedError() | library.ContentFilterError() | library.UserError()
        ):
            return f"{name} refused the request: {why}", ""
    return None


def _too_long(error: BaseException) -> bool:
    if isinstance(error, library.ModelContextWindowExceededError):
        return True
    if not isinstance(error, library.ModelHTTPError) or error.status_code not in (
        400,
        413,
        422,
    ):
        return False
    return error.status_code == 413 or any(word in str(error.body).lower() for word in TOO_LONG)


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
    return (
        capped(
            redact(stripped(str(text))),
            300,
        )
        or "no reason given"
    )
