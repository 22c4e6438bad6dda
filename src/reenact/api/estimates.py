"""What a command would cost, before it begins: requests to a model, tokens, money, trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.api import session as call
from reenact.errors import InputError, JournalError, require
from reenact.settings import Settings, resolve

if TYPE_CHECKING:
    from reenact.llm.ask import Model
    from reenact.trials.budget import TrainingBudget

CHARACTERS_PER_TOKEN = 4
PROMPT = 1500
"""Tokens of our own words in one request, and of the program's facts."""
REPORT = 2000
"""Tokens of a bug report that is not a file here."""
SCRIPT = 1500
"""Tokens of a script, or of what a plan says."""
ANSWER = 800
"""Tokens of what a model answers about a training."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """About how much."""

    sentence: str
    money: Decimal | None = None
    """US dollars; none where no model is asked or its price is unknown."""


def paper_estimate(paper: str, given: Mapping[str, Any]) -> Estimate:
    """Of `reproduce_paper`: the paper is read, no model is asked."""
    require("models")
    from reenact.paper.estimate import paper_estimate as estimate
    from reenact.paper.options import Goal, PaperAblations, PaperOptions

    settings, model = _model(given, "A paper is read and its code written by a model")
    options = PaperOptions(
        goal=Goal(given["task"], method=given["method"], metric=given["metric"]),
        exemplars=given["exemplars"],
        rounds=given["rounds"],
        parts=PaperAblations.without(*given["without"]),
    )
    found = estimate(call.paper_for(settings, paper), options, model)
    money = found.whole.money
    if money is not None and found.revision.money is not None:
        money += found.rounds * found.revision.money
    return Estimate(found.sentence, money)


def bug_estimate(report: str, given: Mapping[str, Any]) -> Estimate:
    """Of `reproduce_bug`: at most, where no context shows the bug."""
    require("models")
    from reenact.bug.options import BugOptions

    _, model = _model(given, "A script is written by a model")
    file = Path(report)
    known = file.stat().st_size // CHARACTERS_PER_TOKEN if file.is_file() else REPORT
    in_a_context = 1 + given["samples"] + given["attempts"] - 1
    scripts = given["contexts"] * in_a_context
    sent = 2 * (known + PROMPT)
    sent += scripts * (known + PROMPT + SCRIPT + BugOptions().context_tokens)
    return _of(model, 2 + scripts, sent, (2 + scripts) * SCRIPT)


def training_estimate(
    words: Sequence[str],
    work: str,
    given: Mapping[str, Any],
    *,
    rounds: int = 1,
    tests: bool = True,
) -> Estimate:
    """Of `diagnose` and `repair`: the trainings in words, and a model where one is named, which is
    asked `rounds` times for so many answers, and about the claims that are tested.
    """
    from reenact.diagnosis.proposals.tested import MOST_REQUESTS

    program = call.program_of(words, ())
    settings = resolve({"model": given["model"]}).settings
    parts = [work]
    if before := _earlier(settings, " ".join(words)):
        parts.append(before)
    if not given["model"]:
        return Estimate(". ".join(parts))
    _, model = _model(given, "")
    text = sum(len(file.text) for file in program.files) // CHARACTERS_PER_TOKEN
    requests = rounds * given["samples"] + (MOST_REQUESTS if tests else 0)
    cost = _of(model, requests, requests * (text + PROMPT), requests * ANSWER)
    return Estimate(". ".join([*parts, f"Model: {cost.sentence}"]), cost.money)


def after_a_run(budget: TrainingBudget, verifying: int) -> str:
    """The trainings of a search, in words."""
    return f"one watched run, then up to {_trainings(budget)}, and {verifying} trainings to verify"


def _model(given: Mapping[str, Any], needed_for: str) -> tuple[Settings, Model]:
    settings = resolve({name: given.get(name) for name in call.FLAGS}).settings
    if not settings.model:
        raise InputError(f"{needed_for}, and none is named.", next_step="Name one with --model.")
    return settings, call.model_for(settings)


def _of(model: Model, requests: int, sent: int, received: int) -> Estimate:
    from reenact.llm.ask import Usage
    from reenact.llm.budget import Priced
    from reenact.paper.estimate import CostEstimate

    money = model.price(Usage(sent, received)) if isinstance(model, Priced) else None
    return Estimate(f"at most {CostEstimate(requests, sent, received, money).sentence}", money)


def _trainings(budget: TrainingBudget) -> str:
    if budget.trainings is not None:
        return f"{budget.trainings} trainings"
    if budget.seconds is not None:
        return f"{budget.seconds:g} s of trainings"
    more = "" if budget.exact else " (more where one takes less than 1.5 s)"
    return f"{budget.multiple:g} times the CPU time of one training{more}"


def _earlier(settings: Settings, program: str) -> str:
    """How long the newest finished diagnosis of the same program took; empty where there is none."""
    from reenact.journal import JournalReader, Status

    if not (settings.runs_dir / "journal.db").exists():
        return ""
    try:
        with JournalReader.open(settings.runs_dir) as shelf:
            runs = shelf.runs(pipeline="diagnose", status=Status.FINISHED, text=program, limit=20)
    except JournalError:
        return ""
    same = next((run for run in runs if run.what == program), None)
    return f"The last diagnosis of it took {same.worked_s:.0f} s" if same is not None else ""
