"""Baselines: a prompt of our own, the best context or none, one answer. Nothing is checked, run or
refined.

The context is the pipeline's first: what differs is the search for a script, not the code that is
shown.
"""

from __future__ import annotations

from decimal import Decimal

from pydantic import BaseModel, Field

from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.cases import BugCase
from benchmarks.bugs.variant import Variant
from reenact.asking import ask
from reenact.bug.context.build import build_contexts
from reenact.bug.context.index import build_index
from reenact.bug.options import BugOptions
from reenact.bug.project_files import project_files
from reenact.bug.reproduction import Verdict
from reenact.codegen.edits import LONGEST_SCRIPT, unfenced
from reenact.intake.report import RawReport
from reenact.intake.repository import Checkout
from reenact.journal import Journal
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt


class Written(BaseModel):
    """A script, after some thought where that was asked for."""

    thoughts: str = Field(
        default="",
        max_length=20_000,
        description="Thoughts on the variant, if asked for.",
    )
    script: str = Field(
        max_length=LONGEST_SCRIPT,
        description="The whole script, Python, without a code fence.",
    )


def write_once(
    case: BugCase,
    variant: Variant,
    raw: RawReport,
    checkout: Checkout,
    model: Model,
    journal: Journal,
    *,
    fresh: bool,
) -> CaseResult:
    """The script of a single answer. Raises AnswerUnusable."""
    template = load_prompt("benchmarks.bugs", f"prompts/{variant.baseline}.md")
    values = {"report": raw.text()}
    if "context" in template.variables:
        code = build_index(project_files(checkout.folder))
        contexts = build_contexts(code, raw.text(), BugOptions(contexts=1))
        values["context"] = contexts[0].text() if contexts else "none"
    prompt = template.fill(**values)
    request = {
        "report": raw.text(),
        "project": case.buggy,
        "way": variant.name,
        "model": model.name,
    }
    with journal.run(
        pipeline="bug-baseline", request=request, what=variant.name, fresh=fresh
    ) as run:
        script = unfenced(ask(run, model, variant.key, prompt, Written).script)
        run.finish({"lines": script.count("\n")})
        record = run.record
    return CaseResult(
        case.id,
        variant.name,
        Verdict.INCONCLUSIVE,
        "the script could not be run",
        attempts=1,
        tokens=record.tokens_in + record.tokens_out,
        script=script,
        money=None if record.unpriced else Decimal(record.money),
    )
