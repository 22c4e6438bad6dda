"""The conversation with the model: every question and its answer, and any other step with its bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reenact.journal import Kind, Step
from reenact.report.document import Block, Facts, Fold, Text
from reenact.report.run_words import cost_of, counted, cut, readable, state_of, time_of
from reenact.report.stored import Stored


def talk(stored: Stored, *, limit: int, whole: bool = False, after: int = 0) -> list[tuple[Step, Fold]]:
    """Questions in order, each folded; `whole` brings their bodies along, else they are fetched later."""
    asked = stored.shelf.some_steps(stored.run, kind=Kind.LLM, after=after, limit=limit)
    return [(step, _fold(stored, step, whole)) for step in asked]


def _fold(stored: Stored, step: Step, whole: bool) -> Fold:
    cost = cost_of(step.money or "0", step.tokens_in + step.tokens_out, int(step.money is None))
    said = f"{step.path}  ({state_of(step)}, {step.tokens_in:,} + {step.tokens_out:,} tokens, {cost})"
    href = "" if whole else f"/runs/{stored.run.id}/steps/{step.nr}"
    return Fold(
        said,
        tuple(step_blocks(stored, step, facts=False)) if whole else (),
        tone="error" if step.error_type else "",
        href=href,
    )


def step_blocks(stored: Stored, step: Step, *, facts: bool = True) -> list[Block]:
    """What went in and what came out."""
    inputs, result = stored.shelf.inputs(step), stored.shelf.result(step)
    blocks: list[Block] = [_facts(step)] if facts else []
    if step.error_type:
        after = f"\n{step.error_next}" if step.error_next else ""
        blocks.append(Text(f"{step.error_type}: {step.error}{after}", "Error"))
    if step.kind is Kind.LLM and isinstance(inputs, dict):
        return [*blocks, *_question(inputs), *_answer(result)]
    if inputs is not None:
        blocks.append(Text(readable(inputs), "Inputs"))
    blocks.append(Text(readable(result) if step.has_result else "none yet", "Result"))
    return blocks


def _question(inputs: Mapping[str, Any]) -> Iterator[Block]:
    yield Facts("", (("model", str(inputs.get("model"))), ("prompt", str(inputs.get("prompt")))))
    if inputs.get("system"):
        yield Text(cut(str(inputs["system"])), "System")
    parts = inputs.get("parts")
    for number, part in enumerate(parts if isinstance(parts, list) else [], start=1):
        yield Text(cut(_part(part)), f"Question, part {number}")


def _part(part: Any) -> str:
    """Text as it was sent; of a picture what it was."""
    if not isinstance(part, dict):
        return readable(part)
    if isinstance(part.get("data"), bytes):
        return f"[a picture: {part.get('label')}, {part.get('media_type')}, {len(part['data'])} bytes]"
    return str(part["text"]) if "text" in part else readable(part)


def _answer(result: Any) -> Iterator[Block]:
    value = result.get("value", result) if isinstance(result, dict) else result
    if not isinstance(value, dict):
        yield Text(readable(value) if result is not None else "none yet", "Answer")
        return
    # Long texts, such as scripts, are read as they stand, not as one line of JSON.
    long = {name: text for name, text in value.items() if isinstance(text, str) and "\n" in text}
    rest = {name: item for name, item in value.items() if name not in long}
    if rest:
        yield Text(readable(rest), "Answer")
    for name, text in long.items():
        yield Text(cut(text), f"Answer: {name}")


def _facts(step: Step) -> Facts:
    told = {
        "kind": step.kind.value,
        "state": f"{state_of(step)}, {counted(step.tries, 'try')}",
        "time": time_of(step.duration_s),
        "started": step.started_at[:19].replace("T", " "),
        "cost": cost_of(step.money or "0", step.tokens_in + step.tokens_out, int(step.money is None)),
        "tokens": f"{step.tokens_in:,} in, {step.tokens_out:,} out",
    }
    return Facts("", tuple(told.items()))
