"""What both roles know, what they are asked, and what a model may answer: edits are
`reenact.codegen.edits`.

Research: begin, learn, plan. Code: write, analyse, fix, cheaper, revise, refactor. Each raises
AnswerUnusable when no usable answer came. A question is a step of the journal with the name of its
prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from typing import Any, TypeAlias

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.edits import Edited, FileText, edited, with_files
from reenact.codegen.project import MOST_FILES, Project, last_output, problems_text
from reenact.files import packaged_table
from reenact.journal import Scope
from reenact.llm.ask import T, bounded
from reenact.llm.prompts import load_prompt
from reenact.paper.context import PaperContext
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.develop.checks import Checked, Stage

PACKAGE = "reenact.paper.develop"
TEXTS = "prompts/texts.toml"
Made: TypeAlias = tuple[Project, list[str]]
"""A new version, and what it takes for granted that the paper does not state."""
Lines: TypeAlias = Iterable[str]
LONGEST = 4000
"""Characters of a sentence of the roles."""
listed: Any = partial(Field, default_factory=list)


@dataclass(frozen=True, slots=True)
class Brief:
    """What both roles are given before the first line of code; the paper's results are not in
    it.
    """

    paper_text: str
    """The paper without its results."""
    goal: str
    """What is to be reproduced."""
    review: str = ""
    """The three summaries, as text."""
    exemplars: str = ""
    """Cited work and its code, as text."""
    criteria: tuple[Criterion, ...] = ()
    addendum: str = ""
    """What authors or user add to the paper."""
    data: str = ""
    """What the user's folders hold, as a listing; empty when none were given."""
    machine: str = ""
    """What a run may use, and which packages there are."""

    def shared(self) -> dict[str, str]:
        """The variables that every prompt of development begins with."""
        criteria = (
            (
                f"{one.id} (weight {one.weight}; {one.scope}): {one.fact} "
                f"[{', '.join(one.places)}: {one.quote}]"
            )
            for one in self.criteria
        )
        given = {
            "review": self.review,
            "exemplars": self.exemplars,
            "criteria": "\n".join(criteria),
        }
        given = {
            name: text or "none"
            for name, text in {
                **given,
                "addendum": self.addendum,
            }.items()
        }
        given["goal"] = self.goal or "All experiments and baselines of the paper."
        given["machine"] = self.machine or "Nothing is known of the machine."
        return {
            "paper": self.paper_text,
            **given,
            "data": self.data or "The user gave no folder of data.",
        }


@dataclass(frozen=True, slots=True)
class State:
    """What the two roles share: summary, decisions, open questions. A new one replaces it."""

    summary: str = ""
    decisions: tuple[str, ...] = ()
    """What was decided where the paper is silent."""
    questions: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    """What executions showed: not an opinion, and never replaced by one."""
    assumed: tuple[str, ...] = ()
    """What the code role took for granted: kept for the report, whatever research thinks of it
    later.
    """
    slow: tuple[str, ...] = ()
    """What took too long on the way here, for the report: a design that is fast enough needs no
    excuse.
    """

    def adding(
        self,
        observed: Lines = (),
        assumed: Lines = (),
        slow: Lines = (),
    ) -> State:
        """With what an execution showed, the code takes for granted, or took too long: each
        once.
        """
        return replace(
            self,
            observed=_each_once(self.observed, observed),
            assumed=_each_once(self.assumed, assumed),
            slow=_each_once(self.slow, slow),
        )

    def text(self) -> str:
        """The state as a model sees it."""
        parts = {
            "Summary": self.summary,
            "Decided where the paper is silent": _bullets(self.decisions),
            "Still open": _bullets(self.questions),
            "Assumed by the code": _bullets(self.assumed),
            "Observed by running": _bullets(self.observed),
        }
        filled = [f"{head}:\n{body}" for head, body in parts.items() if body]
        return "\n\n".join(filled) or "nothing yet"


def _each_once(before: Lines, more: Lines) -> tuple[str, ...]:
    """Lines in order, without empty ones."""
    return tuple(line for line in dict.fromkeys((*before, *more)) if line)


def _bullets(lines: Lines) -> str:
    return "\n".join(f"- {line}" for line in lines)


@dataclass(frozen=True)
class Version:
    """One version of the code. Frozen: the next version is another one."""

    stage: Stage = Stage.DATA
    project: Project = field(default_factory=Project)
    state: State = field(default_factory=State)
    found: Checked = field(default_factory=lambda: Checked(()))
    """What the checks found of it."""
    tries: int = 0
    """Attempts to fix it."""
    judged: tuple[Judged, ...] = ()
    """What was found of each criterion in it; empty when it was not verified."""

    @property
    def runs(self) -> bool:
        return not self.found.problems

    def criteria(self, value: Value) -> tuple[str, ...]:
        """Ids of the criteria of which this was found."""
        return tuple(one.criterion for one in self.judged if one.value is value)

    def at(self, stage: Stage) -> Version:
        """The same version at the next stage."""
        return replace(self, stage=stage, tries=0, judged=())

    def slow(self, time: str) -> Version:
        """The same version, with what took too long."""
        return replace(
            self,
            state=self.state.adding(slow=[time]),
        )


class Learnt(BaseModel):
    """What the research role answers."""

    summary: str = bounded(
        12_000,
        "What is to be built and measured, in the order of building; complete by itself.",
        min_length=1,
    )
    decisions: list[str] = listed(
        max_length=60,
        description="One sentence each: what was chosen where the paper is silent, and why.",
    )
    questions: list[str] = listed(
        max_length=40, description="One sentence each: what is still open."
    )


class Written(BaseModel):
    """The files of one stage."""

    files: list[FileText] = Field(min_length=1, max_length=MOST_FILES)
    assumptions: list[str] = listed(
        max_length=40,
        description="One sentence each: what was assumed that the paper does not say.",
    )


class Analysis(BaseModel):
    """Why something failed, before anything is changed."""

    cause: str = Field(
        min_length=1, max_length=4000, description="What goes wrong, where, and why."
    )
    remedy: str = Field(min_length=1, max_length=4000, description="What to change, file by file.")
    requirement: str = bounded(
        200,
        "A package that is missing and cannot be done without, as NAME or NAME==VERSION.",
        default="",
    )


class Plan(BaseModel):
    """What is changed for all failed criteria together."""

    steps: list[str] = bounded(
        40,
        "One sentence each: the file, the change, and the criteria it turns, such as `F3, F7`.",
        min_length=1,
    )
    hopeless: list[str] = listed(
        max_length=60,
        description="Criteria that cannot be met here, each as `F4: the reason`.",
    )

    def text(self) -> str:
        """The plan as the code role sees it."""
        left = [f"Not to be met: {one}" for one in self.hopeless]
        return "\n".join(
            [
                *(f"{number}. {step}" for number, step in enumerate(self.steps, 1)),
                *left,
            ]
        )


@dataclass(frozen=True)
class Roles:
    """Both roles at work on one paper: what they are given, and the model that plays them."""

    brief: Brief
    context: PaperContext

    def learn(
        self,
        version: Version,
        run: Scope,
        name: str = "learn",
    ) -> State:
        """The state after a stage; `begin`: what is to be built, before any code."""
        answer = self.ask(name, version, run, Learnt)
        decided = tuple(one.strip()[:LONGEST] for one in answer.decisions)
        asked = tuple(one.strip()[:LONGEST] for one in answer.questions)
        return replace(
            version.state,
            summary=answer.summary,
            decisions=decided,
            questions=asked,
        )

    def write(self, version: Version, run: Scope) -> Made:
        """The project with the files of a stage, and what was assumed."""
        new = version.stage.new

        def check(answer: Written) -> None:
            made = with_files(version.project, answer.files)
            if missing := [name for name in new if name not in made.files]:
                raise ValueError(f"These files are missing: {', '.join(missing)}.")

        task = packaged_table(PACKAGE, TEXTS)["tasks"][version.stage.value]
        answer = self.ask(
            "write",
            version,
            run,
            Written,
            check,
            task=task,
            files=", ".join(new),
        )
        return with_files(version.project, answer.files), answer.assumptions

    def edit(
        self,
        name: str,
        version: Version,
        run: Scope,
        **shown: str,
    ) -> Made:
        """The project after the edits that the model answers; a reviewer may give none."""

        def apply(change: Edited) -> Project:
            idle = name == "refactor" and change.is_empty
            if idle:
                return version.project
            return edited(version.project, change)

        change = self.ask(
            name,
            version,
            run,
            Edited,
            apply,
            **shown,
        )
        return apply(change), change.assumptions

    def ask(
        self,
        name: str,
        version: Version,
        run: Scope,
        answer: type[T],
        check: Callable[[T], object] | None = None,
        **shown: str,
    ) -> T:
        """One question; its prompt takes what it names of the brief, the version and what else
        is shown.
        """
        template = load_prompt(PACKAGE, f"prompts/{name}.md")
        problems = version.found.problems
        rules = files(PACKAGE).joinpath("prompts/contract.txt").read_text(encoding="utf-8").strip()
        known = {
            **self.brief.shared(),
            "rules": rules,
            "state": version.state.text(),
            "project": version.project.text() or "nothing yet",
            "stage": version.stage.value,
            "problems": problems_text(problems),
            "printed": last_output(problems),
            **shown,
        }
        prompt = template.fill(**{one: known[one] for one in template.variables})
        return ask(
            run,
            model=self.context.model,
            name=template.name.rpartition("/")[2],
            prompt=prompt,
            answer=answer,
            check=check,
        )


def judged_text(criteria: Sequence[Criterion], judged: Sequence[Judged]) -> str:
    """Criteria that do not hold, with what was seen, as a model sees them."""
    facts = {one.id: one.fact for one in criteria}
    lines = []
    for one in judged:
        if not one.value.is_settled:
            where = ""
            if one.lines:
                where = f" ({', '.join(str(line) for line in one.lines)})"
            fact = facts.get(one.criterion, "")
            lines.append(f"{one.criterion} {one.value}: {fact} Seen: {one.reason}{where}")
    return "\n".join(lines) or "all hold"
