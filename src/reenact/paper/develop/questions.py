"""The questions of both roles. Research: begin, learn, plan. Code: write, analyse, fix, revise, refactor.

Each raises AnswerUnusable when no usable answer came.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from reenact.asking import ask
from reenact.codegen.edits import Edited, edited, with_files
from reenact.codegen.problem import last_output, problems_text
from reenact.codegen.project import Project
from reenact.journal import Scope
from reenact.llm.ask import Model, Prompt
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.develop.answers import Analysis, Learnt, Plan, Written
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.version import Brief, State, Version

PACKAGE = "reenact.paper.develop"
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


@dataclass(frozen=True)
class Roles:
    """Both roles at work on one paper: what they are given, and the model that plays them."""

    brief: Brief
    model: Model
    packages: tuple[str, ...] = ()
    """Packages that the user allows besides those of this interpreter."""

    def begin(self, version: Version, run: Scope) -> State:
        """What is to be built, before any code."""
        here = [name for name in OFFERED if importlib.util.find_spec(name) is not None]
        packages = ", ".join([*here, *self.packages]) or "none"
        prompt = self._prompt("begin", packages=packages)
        return version.state.learnt(ask(run, self.model, "begin", prompt, Learnt))

    def learn(self, version: Version, run: Scope) -> State:
        """The state after a stage."""
        problems = problems_text(version.found.problems)
        prompt = self._prompt("learn", **_staged(version), problems=problems)
        return version.state.learnt(ask(run, self.model, "learn", prompt, Learnt))

    def write(self, version: Version, run: Scope) -> Made:
        """The project with the files of a stage, and what was assumed."""
        new = version.stage.new
        task = TASKS[version.stage]
        prompt = self._prompt("write", **_staged(version), task=task, files=", ".join(new))

        def check(answer: Written) -> None:
            made = with_files(version.project, answer.files)
            missing = [name for name in new if name not in made.files]
            if missing:
                raise ValueError(f"These files are missing: {', '.join(missing)}.")

        answer = ask(run, self.model, "write", prompt, Written, check=check)
        return with_files(version.project, answer.files), answer.assumptions

    def analyse(self, version: Version, run: Scope, earlier: str) -> Analysis:
        """Why it fails, before anything is changed."""
        prompt = self._prompt("analyse", **_staged(version), **_failing(version, earlier))
        return ask(run, self.model, "analyse", prompt, Analysis)

    def fix(self, version: Version, run: Scope, earlier: str, analysis: str, tactic: str) -> Made:
        """The project after edits against a failure."""
        known = {**_staged(version), **_failing(version, earlier)}
        prompt = self._prompt("mend", **known, analysis=analysis, tactic=tactic)
        return self._after(version, run, "mend", prompt)

    def plan(self, version: Version, run: Scope, judged: Sequence[Judged]) -> Plan:
        """One plan for all failures."""
        failing = judged_text(self.brief.criteria, judged)
        problems = problems_text(version.found.problems)
        prompt = self._prompt("plan", **_known(version), judged=failing, problems=problems)
        return ask(run, self.model, "plan", prompt, Plan)

    def revise(self, version: Version, run: Scope, judged: Sequence[Judged], planned: Plan) -> Made:
        """The project after the plan was carried out."""
        failing = judged_text(self.brief.criteria, judged)
        prompt = self._prompt("revise", **_known(version), judged=failing, plan=planned.text())
        return self._after(version, run, "revise", prompt)

    def refactor(self, version: Version, run: Scope) -> Made:
        """The project read once by a reviewer; the same one when nothing is to be done."""
        prompt = self._prompt("refactor", **_known(version))
        return self._after(version, run, "refactor", prompt, idle=True)

    def _after(self, version: Version, run: Scope, name: str, prompt: Prompt, *, idle: bool = False) -> Made:
        """The project after the edits that the model answers; `idle` allows it to give none."""

        def apply(change: Edited) -> Project:
            return version.project if idle and change.is_empty else edited(version.project, change)

        def check(change: Edited) -> None:
            apply(change)

        change = ask(run, self.model, name, prompt, Edited, check=check)
        return apply(change), change.assumptions

    def _prompt(self, name: str, **values: Any) -> Prompt:
        template = load_prompt(PACKAGE, f"prompts/{name}.md")
        return template.fill(rules=_contract(), **self.brief.shared(), **values)


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


def _known(version: Version) -> dict[str, str]:
    return {"state": version.state.text(), "project": version.project.text() or "nothing yet"}


def _staged(version: Version) -> dict[str, str]:
    return {**_known(version), "stage": version.stage.value}


def _failing(version: Version, earlier: str) -> dict[str, str]:
    problems = version.found.problems
    return {
        "problems": problems_text(problems),
        "printed": last_output(problems),
        "earlier": earlier or "nothing",
    }


@cache
def _contract() -> str:
    return files(PACKAGE).joinpath("prompts/contract.txt").read_text(encoding="utf-8").strip()
