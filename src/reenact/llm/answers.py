"""Typed answers out of whatever text came back.

Takes the last JSON object in a text that fits the asked-for type: bare, in a code fence, after
thinking or chatter. Repairs only what loses nothing (trailing commas, Python literals, raw line
breaks in strings); a cut-off answer is never completed by guessing. Everything else raises
BadAnswer, in words for the model.
"""

import ast
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NoReturn

from pydantic import ValidationError

from reenact.llm.ask import Reply, Request, T
from reenact.llm.prompts import capped

LONGEST_ANSWER = 2_000_000
"""Characters; a longer reply is not read."""
LARGEST_INTEGER = 2**63 - 1
LONGEST_LITERAL = 200_000
SHOWN_PROBLEMS = 8
CANDIDATES = 50
FENCES = 5
"""Objects and code fences that are tried; a text with more is not an answer but a flood."""
NO_OBJECT = "Your answer contained no JSON object."
CUT_OFF = "Your JSON breaks off before its end. Give the whole object."
_THINKING = re.compile(r"\A(?:\s*<think(?:ing)?>.*?</think(?:ing)?>)+", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*[ \t]*\r?\n\s*(?=[{\[])")
_OPENING = re.compile(r"[{\[]")
_BRACKETS = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


class BadAnswer(Exception):
    """An answer that does not fit. `for_model` informs the model what to do better."""

    def __init__(self, for_model: str, *, echo: bool = True) -> None:
        super().__init__(for_model)
        self.for_model = for_model
        self.echo = echo
        """Whether the model should see its bad answer again; pointless when it was empty or
        endless.
        """


def read(reply: Reply, request: Request[T]) -> T:
    """The typed value in a reply, or BadAnswer."""
    value = validated(_text_of(reply), request.answer)
    if request.check is not None:
        try:
            request.check(value)
        except ValueError as error:
            raise BadAnswer(str(error)) from None
    return value


def validated(text: str, kind: type[T]) -> T:
    """The last object in the text that fits `kind`."""
    if not text.strip():
        raise BadAnswer("Your answer was empty.", echo=False)
    if len(text) > LONGEST_ANSWER:
        raise BadAnswer(f"Your answer was longer than {LONGEST_ANSWER} characters.", echo=False)
    # A misfit object says more than a broken one, and that more than a list or citation next to it.
    problems: dict[int, BadAnswer] = {}
    for found in reversed(values(text)[-CANDIDATES:]):
        if isinstance(found, BadAnswer):
            problems.setdefault(1, found)
            continue
        try:
            return kind.model_validate(found)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            lines = [
                f"- {'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in faults
            ]
            if len(lines) > SHOWN_PROBLEMS:
                lines[SHOWN_PROBLEMS:] = [f"- and {len(lines) - SHOWN_PROBLEMS} more"]
            misfit = BadAnswer(
                "Your answer does not fit the asked-for schema:\n" + "\n".join(lines)
            )
            problems.setdefault(
                2 if isinstance(found, dict) else 0,
                misfit,
            )
    if not problems and _repeats(text):
        raise BadAnswer("Your answer repeated itself without end.", echo=False)
    raise problems[max(problems)] if problems else BadAnswer(NO_OBJECT)


def values(text: str) -> list[Any]:
    """Every JSON value in the text, a BadAnswer in place of each that is broken.

    Starts after a code fence when the prose before it has stray brackets.
    """
    text = _THINKING.sub("", text)
    found = list(_found(text, 0))
    if any(isinstance(value, dict) for value in found):
        return found
    starts = (fence.end() for fence in islice(_FENCED.finditer(text), FENCES))
    fences = (list(_found(text, start)) for start in starts)
    for inside in fences:
        if any(isinstance(value, dict) for value in inside):
            return inside
    return found


def _text_of(reply: Reply) -> str:
    if reply.finish == "length":
        endless = " It repeated itself." if _repeats(reply.text) else ""
        raise BadAnswer(
            f"Your answer was cut off because it was too long.{endless} Be brief.",
            echo=False,
        )
    offers = set(reply.offers)
    if len(offers) > 1:
        raise BadAnswer(f"You gave {len(reply.offers)} different answers. Give exactly one.")
    if reply.strays and not offers and not reply.text.strip():
        named = ", ".join(sorted(set(reply.strays))[:3])
        complaint = f"You called tools that do not exist ({named}). Only give the answer itself."
        raise BadAnswer(complaint, echo=False)
    return offers.pop() if offers else reply.text


def _found(text: str, position: int) -> Iterator[Any]:
    """Every JSON value from there on, in order of appearance; a BadAnswer in place of each that
    is broken.
    """
    while opening := _OPENING.search(text, position):
        start = opening.start()
        value: Any
        try:
            value, position = _decoded(text, start)
        except BadAnswer as refused:
            position = _closing(text, start) or len(text)
            value = refused
        except ValueError as error:
            end = _closing(text, start)
            value = (
                _repaired(
                    text[start:end],
                    str(error),
                )
                if end
                else BadAnswer(CUT_OFF)
            )
            position = end or len(text)
        yield value


def _decoded(text: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value that begins at `start`, and where it ends. ValueError for what is not JSON."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        _refuse("is nested too deeply")
    except UnicodeEncodeError:
        _refuse("contains half a character (a lone surrogate)")
    return value, end


def _repaired(span: str, fault: str) -> Any:
    """The value without its trailing commas, or of a dictionary as Python writes it; BadAnswer
    otherwise.
    """
    try:
        with suppress(ValueError):
            return _decoded(
                _TRAILING_COMMA.sub(
                    lambda match: match[1] or "",
                    span,
                )
            )[0]
    except BadAnswer as refused:
        return refused
    with suppress(
        BadAnswer,
        ValueError,
        TypeError,
        SyntaxError,
        MemoryError,
        RecursionError,
    ):
        # Through JSON again, so that the same limits hold.
        literal = None
        if len(span) <= LONGEST_LITERAL:
            literal = ast.literal_eval(span)
        if literal:
            return _decoded(json.dumps(literal))[0]
    return BadAnswer(f"Your JSON is not valid: {fault}.")


def _closing(text: str, start: int) -> int | None:
    """Where the bracket at `start` is closed again (exclusive), strings left aside; none when
    it is not.
    """
    depth = 0
    inside = False
    for match in _BRACKETS.finditer(text, start):
        if match[0] == '"':
            inside = not inside
        elif not inside and len(match[0]) == 1:
            depth += 1 if match[0] in "{[" else -1
        if depth == 0:
            return match.end()
    return None


def _refuse(what: str) -> NoReturn:
    raise BadAnswer(f"Your JSON {what}.")


def _bounded(digits: str) -> int:
    large = len(digits) > 20 or abs(int(digits)) > LARGEST_INTEGER
    if large:
        return _refuse("contains an integer beyond 64 bits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isfinite(number):
        return number
    return _refuse("contains a number too large to be represented")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    return _refuse("names the same key twice in one object")


_DECODER = json.JSONDecoder(
    strict=False,
    parse_constant=lambda name: _refuse(f"contains {name}, which is not a number that JSON knows"),
    parse_int=_bounded,
    parse_float=_finite,
    object_pairs_hook=_without_twins,
)


def json_in(data: bytes) -> Any:
    """The value of a file or line of JSON; none when it is damaged."""
    with suppress(ValueError, RecursionError):
        return json.loads(data)
    return None


def misfits(
    value: Any,
    schema: Mapping[str, Any],
) -> list[str]:
    """How a value does not fit a JSON schema, one sentence each; empty when it does.

    For answers whose Python type is not at hand; the run that asked checks again, with the type
    itself.
    """
    from jsonschema import Draft202012Validator

    errors = Draft202012Validator(schema).iter_errors(value)
    inner = (one for error in errors for one in _innermost(error))
    return [f"answer{one.json_path[1:]}: {capped(one.message, 300)}" for one in inner]


def _innermost(error: Any) -> Iterator[Any]:
    """Of a choice between types, the misfits of the one that almost fits: they say most."""
    branches: dict[object, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    if not branches:
        yield error
    for inner in min(branches.values(), key=len, default=[]):
        yield from _innermost(inner)


def _repeats(text: str) -> bool:
    """Long text that says the same thing over and over, as a model in a loop does."""
    return len(text) >= 2000 and len(zlib.compress(text.encode("utf-8", "replace"))) < 0.03 * len(
        text
    )
