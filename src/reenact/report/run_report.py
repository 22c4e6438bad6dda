"""A run for a reader: its head, its conversation with the model, and all of it as one file to
be mailed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reenact.journal import JournalReader, Kind, Run, Status, Step
from reenact.report import run_words
from reenact.report.as_html import TONES, blocks, contents, escaped, page
from reenact.report.document import (
    Block,
    Board,
    Facts,
    Fold,
    Row,
    Section,
    Text,
    listed,
)
from reenact.report.recorded import Stored, document_of

SHOWN = ("run", "folder", "started", "time", "cost", "tokens", "version")
MOST_TALK = 200
MOST_STEPS = 2000
ANCHORS, BACK = re.compile(r'(?<= )(id="|href="#)'), r"\g<0>"
"""Every run has the same anchors: below one another each gets the id of its run in front."""


@dataclass(frozen=True, slots=True)
class Head:
    """What is above the result of any run."""

    title: str
    status: str
    verdict: str
    tone: str
    """How it ended, as a colour knows it."""
    facts: Facts
    command: str


def head_of(run: Run, shelf: JournalReader) -> Head:
    """The same on the live page and in the report."""
    reused = run_words.reused_in(run, shelf)
    status = shelf.status_of(run)
    took = run_words.time_of(run_words.Listed(run, status).seconds)
    facts = dict(run_words.run_facts(run, *SHOWN)) | {"time": took}
    tone = "error" if run.status is Status.FAILED else "note"
    if run.status is Status.FINISHED and run.exit_code is not None:
        tone = {int(code): word for code, word in TONES.items()}.get(
            run.exit_code,
            "note",
        )
    none_yet = "No verdict: it was interrupted. Resume continues where it stopped."
    if shelf.is_live(run):
        none_yet = f"Running: {run_words.counted(run.done + run.reused, 'step')} done."
    # First of all what was not made by it.
    shown = Facts(
        "",
        ((("reused", reused),) if reused else ()) + tuple(facts.items()),
    )
    title = f"{run.pipeline} {run.what}".strip()
    verdict = run_words.headline(run) or none_yet
    return Head(
        title,
        status=status,
        verdict=verdict,
        tone=tone,
        facts=shown,
        command=run_words.run_facts(run, "command")[0][1],
    )


def talk(
    stored: Stored,
    *,
    limit: int,
    whole: bool = False,
) -> list[tuple[Step, Fold]]:
    """Questions in order, each folded; `whole` brings their bodies along, else they are fetched
    later.
    """
    folds = []
    for step in stored.shelf.some_steps(
        stored.run,
        kind=Kind.LLM,
        limit=limit,
    ):
        tokens = f"{step.tokens_in:,} + {step.tokens_out:,} tokens"
        summary = f"{step.path}  ({run_words.state_of(step)}, {tokens}, {run_words.cost_of(step)})"
        href = ""
        if not whole:
            href = f"/runs/{stored.run.id}/steps/{step.nr}"
        body = step_blocks(stored, step, facts=False) if whole else ()
        folds.append(
            (
                step,
                Fold(summary, body, "error" if step.error_type else "", href),
            )
        )
    return folds


def step_blocks(stored: Stored, step: Step, *, facts: bool = True) -> list[Block]:
    """What went in and what came out."""
    inputs = stored.shelf.inputs(step)
    result = stored.shelf.result(step)
    blocks: list[Block] = []
    if facts:
        blocks.append(_step_facts(step))
    if step.error_type:
        after = f"\n{step.error_next}" if step.error_next else ""
        blocks.append(
            Text(
                f"{step.error_type}: {step.error}{after}",
                "Error",
            )
        )
    if step.kind is Kind.LLM and isinstance(inputs, dict):
        return [
            *blocks,
            *_question(inputs),
            *_answer(result),
        ]
    if inputs is not None:
        blocks.append(Text(run_words.readable(inputs), "Inputs"))
    blocks.append(
        Text(
            run_words.readable(result) if step.has_result else "none yet",
            "Result",
        )
    )
    return blocks


def _step_facts(step: Step) -> Facts:
    facts = (
        ("kind", step.kind.value),
        (
            "state",
            f"{run_words.state_of(step)}, {run_words.counted(step.tries, 'try')}",
        ),
        ("time", run_words.time_of(step.duration_s)),
        ("started", run_words.moment(step.started_at)),
        ("cost", run_words.cost_of(step)),
        (
            "tokens",
            f"{step.tokens_in:,} in, {step.tokens_out:,} out",
        ),
    )
    return Facts("", facts)


def _question(inputs: Mapping[str, Any]) -> Iterator[Block]:
    yield Facts(
        "",
        (
            ("model", str(inputs.get("model"))),
            ("prompt", str(inputs.get("prompt"))),
        ),
    )
    if inputs.get("system"):
        yield Text(
            run_words.cut(str(inputs["system"])),
            "System",
        )
    parts = inputs.get("parts")
    for number, part in enumerate(
        parts if isinstance(parts, list) else [],
        start=1,
    ):
        known = part if isinstance(part, dict) else {}
        text = str(known["text"]) if "text" in known else run_words.readable(part)
        if isinstance(data := known.get("data"), bytes):
            text = (
                f"[a picture: {known.get('label')}, {known.get('media_type')}, {len(data)} bytes]"
            )
        yield Text(
            run_words.cut(text),
            f"Question, part {number}",
        )


def _answer(result: Any) -> Iterator[Block]:
    value = result.get("value", result) if isinstance(result, dict) else result
    if not isinstance(value, dict):
        yield Text(
            run_words.readable(value) if result is not None else "none yet",
            "Answer",
        )
        return
    # Long texts, such as scripts, are read unchanged, not as one line of JSON.
    long = {name: text for name, text in value.items() if isinstance(text, str) and "\n" in text}
    rest = {name: item for name, item in value.items() if name not in long}
    if rest:
        yield Text(run_words.readable(rest), "Answer")
    for name, text in long.items():
        yield Text(
            run_words.cut(text),
            f"Answer: {name}",
        )


def report_page(*stored: Stored) -> str:
    """The whole file, of one run or of several below one another."""
    if len(stored) == 1:
        run = stored[0].run
        return page(
            f"{run.pipeline} {run.id}",
            _content(stored[0]),
        )
    heads = [
        (
            one.run.id,
            head_of(one.run, one.shelf),
        )
        for one in stored
    ]
    rows = [
        Row(
            (head.title, head.verdict),
            head.tone,
            hrefs={0: f"#{name}"},
        )
        for name, head in heads
    ]
    bodies = (
        (
            one.run.id,
            ANCHORS.sub(
                rf"{BACK}{one.run.id}-",
                _content(one),
            ),
        )
        for one in stored
    )
    parts = [f'<article class="of-several" id="{name}">{body}</article>' for name, body in bodies]
    title = f"{len(stored)} runs of reenact"
    return page(
        title,
        f"<h1>{title}</h1>{blocks([Board('', ('run', 'verdict'), rows)])}{''.join(parts)}",
    )


def _content(stored: Stored) -> str:
    head = head_of(stored.run, stored.shelf)
    sections = [
        *document_of(stored).sections,
        *_process(stored),
    ]
    above = f"<h1>{escaped(head.title)}</h1>"
    above += (
        f'<p class="verdict {head.tone}"><span class="status {head.status}">{head.status}</span> '
    )
    above += (
        f'{escaped(head.verdict)}</p><p class="command"><code>{escaped(head.command)}</code></p>'
    )
    return f"{above}{blocks([head.facts])}{contents(sections)}{blocks(sections)}"


def _process(stored: Stored) -> Iterator[Section]:
    """The conversation with the model, and the steps."""
    if asked := talk(stored, limit=MOST_TALK, whole=True):
        rest = stored.shelf.some_steps(
            stored.run, kind=Kind.LLM, after=asked[-1][0].nr, limit=10**6
        )
        more = f"{len(rest)} more questions are in the journal: reenact runs show {stored.run.id}"
        shown: list[Block] = [
            *(fold for _, fold in asked),
            *listed([more] if rest else []),
        ]
        yield Section("Conversation with the model", shown, "talk")
    run = stored.run
    steps = stored.shelf.some_steps(run, limit=MOST_STEPS)
    more = ""
    if run.steps > len(steps):
        more = f"\n... and {run.steps - len(steps)} more"
    summary = f"{run_words.counted(run.steps, 'step')}: {run_words.steps_of(run)}"
    yield Section(
        "Steps",
        [
            Fold(
                summary,
                [Text(f"{run_words.tree(steps)}{more}")],
            )
        ],
        "steps",
    )
