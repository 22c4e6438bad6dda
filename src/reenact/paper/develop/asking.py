"""The questions of both roles. Research: begin, learn, plan. Code: write, analyse, mend, revise, refactor.

Each raises AnswerUnusable when no usable answer came.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from reenact.asking import ask
from reenact.journal import Scope
from reenact.llm.ask import Prompt
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.develop.answers import Analysis, Edited, Plan, Written
from reenact.paper.develop.brief import Brief
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.edits import edited, with_files
from reenact.paper.develop.problem import printed, told
from reenact.paper.develop.state import Learnt, State
from reenact.paper.develop.work import Work
from reenact.paper.project import Project

ROOM = "reenact.paper.develop"
Made: TypeAlias = tuple[Project, list[str]]
"""A new version, and what it takes for granted that the paper does not say."""
OFFERED = ("numpy", "torch")
"""Packages that are named when they are here; a longer list would differ from machine to machine."""
TASKS = {
    Stage.DATA: (
        "Get the data as the paper describes them: splits, sizes, preprocessing. A mini-batch will be sampled"
        " to learn shapes, types and ranges."
    ),
    Stage.METHOD: (
        "Implement the method: every formula and layer as the paper has it, on the mini-batch that was"
        " observed. One batch will be trained on, forward and backward; its loss must be finite and fall."
    ),
    Stage.EXPERIMENT: (
        "Write the whole experiment: training, baselines that are asked for, evaluation, metrics.json."
        " It will be run with --dry-run."
    ),
}


def begin(work: Work, run: Scope) -> State:
    """What is to be built, before any code."""
    here = [name for name in OFFERED if importlib.util.find_spec(name) is not None]
    packages = ", ".join([*here, *work.brief.wishes.requirements]) or "none"
    prompt = _prompt("begin", work.brief, packages=packages)
    return work.state.learnt(ask(run, work.shop.model, "begin", prompt, Learnt))


def learn(work: Work, run: Scope) -> State:
    """The state after a stage."""
    prompt = _prompt("learn", work.brief, **_staged(work), problems=told(work.found.problems))
    return work.state.learnt(ask(run, work.shop.model, "learn", prompt, Learnt))


def write(work: Work, run: Scope) -> Made:
    """The project with the files of a stage, and what was assumed."""
    new = work.stage.new
    prompt = _prompt("write", work.brief, **_staged(work), task=TASKS[work.stage], files=", ".join(new))

    def check(answer: Written) -> None:
        made = with_files(work.project, answer.files)
        missing = [name for name in new if name not in made.files]
        if missing:
            raise ValueError(f"These files are missing: {', '.join(missing)}.")

    answer = ask(run, work.shop.model, "write", prompt, Written, check=check)
    return with_files(work.project, answer.files), answer.assumptions


def analyse(work: Work, run: Scope, earlier: str) -> Analysis:
    """Why it fails, before anything is changed."""
    prompt = _prompt("analyse", work.brief, **_staged(work), **_failing(work, earlier))
    return ask(run, work.shop.model, "analyse", prompt, Analysis)


def mend(work: Work, run: Scope, earlier: str, analysis: str, tactic: str) -> Made:
    """The project after edits against a failure."""
    known = {**_staged(work), **_failing(work, earlier)}
    prompt = _prompt("mend", work.brief, **known, analysis=analysis, tactic=tactic)
    return _after(work, run, "mend", prompt)


def plan(work: Work, run: Scope, judged: Sequence[Judged]) -> Plan:
    """One plan for all failures."""
    failing = judged_text(work.brief.criteria, judged)
    prompt = _prompt("plan", work.brief, **_known(work), judged=failing, problems=told(work.found.problems))
    return ask(run, work.shop.model, "plan", prompt, Plan)


def revise(work: Work, run: Scope, judged: Sequence[Judged], planned: Plan) -> Made:
    """The project after the plan was carried out."""
    failing = judged_text(work.brief.criteria, judged)
    prompt = _prompt("revise", work.brief, **_known(work), judged=failing, plan=planned.text())
    return _after(work, run, "revise", prompt)


def refactor(work: Work, run: Scope) -> Made:
    """The project read once by a reviewer; the same one when nothing is to be done."""
    return _after(work, run, "refactor", _prompt("refactor", work.brief, **_known(work)), idle=True)


def judged_text(criteria: Sequence[Criterion], judged: Sequence[Judged]) -> str:
    """Criteria that do not hold, with what was seen, as a model sees them."""
    facts = {one.id: one.fact for one in criteria}
    lines = []
    for one in judged:
        if one.value is not Value.PASS:
            where = f" ({', '.join(str(line) for line in one.lines)})" if one.lines else ""
            fact = facts.get(one.criterion, "")
            lines.append(f"{one.criterion} {one.value}: {fact} Seen: {one.reason}{where}")
    return "\n".join(lines) or "all hold"


def _after(work: Work, run: Scope, name: str, prompt: Prompt, *, idle: bool = False) -> Made:
    """The project after the edits that the model answers; `idle` allows it to give none."""

    def apply(change: Edited) -> Project:
        nothing = not (change.lines or change.swaps or change.files or change.removed)
        return work.project if idle and nothing else edited(work.project, change)

    def check(change: Edited) -> None:
        apply(change)

    change = ask(run, work.shop.model, name, prompt, Edited, check=check)
    return apply(change), change.assumptions


def _known(work: Work) -> dict[str, str]:
    return {"state": work.state.text(), "project": work.project.text() or "nothing yet"}


def _staged(work: Work) -> dict[str, str]:
    return {**_known(work), "stage": work.stage.value}


def _failing(work: Work, earlier: str) -> dict[str, str]:
    problems = work.found.problems
    return {"problems": told(problems), "printed": printed(problems), "earlier": earlier or "nothing"}


def _prompt(name: str, brief: Brief, **values: Any) -> Prompt:
    return load_prompt(ROOM, f"prompts/{name}.md").fill(rules=_contract(), **brief.shared(), **values)


@cache
def _contract() -> str:
    return files(ROOM).joinpath("prompts/contract.txt").read_text(encoding="utf-8").strip()
