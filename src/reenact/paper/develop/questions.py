"""The questions of both roles, and what a model may answer: edits are `reenact.codegen.edits`.

Research: begin, learn, plan. Code: write, analyse, fix, cheaper, revise, refactor. Each raises AnswerUnusable
when no usable answer came. A question is a step of the journal with the name of its prompt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TypeAlias

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.edits import Edited, FileText, edited, with_files
from reenact.codegen.project import MOST_FILES, Project, last_output, problems_text
from reenact.journal import Scope
from reenact.llm.ask import T
from reenact.llm.prompts import load_prompt
from reenact.paper.asking import prompt_texts
from reenact.paper.context import PaperContext
from reenact.paper.criterion import Criterion, Judged
from reenact.paper.develop.version import LONGEST, Brief, State, Version

PACKAGE = "reenact.paper.develop"
Made: TypeAlias = tuple[Project, list[str]]
"""A new version, and what it takes for granted that the paper does not state."""


class Learnt(BaseModel):
    """What the research role answers."""

    summary: str = Field(
        min_length=1,
        max_length=12_000,
        description="What is to be built and measured, in the order of building; complete by itself.",
    )
    decisions: list[str] = Field(
        default_factory=list,
        max_length=60,
        description="One sentence each: what was chosen where the paper is silent, and why.",
    )
    questions: list[str] = Field(
        default_factory=list, max_length=40, description="One sentence each: what is still open."
    )


class Written(BaseModel):
    """The files of one stage."""

    files: list[FileText] = Field(min_length=1, max_length=MOST_FILES)
    assumptions: list[str] = Field(
        default_factory=list,
        max_length=40,
        description="One sentence each: what was assumed that the paper does not say.",
    )


class Analysis(BaseModel):
    """Why something failed, before anything is changed."""

    cause: str = Field(min_length=1, max_length=4000, description="What goes wrong, where, and why.")
    remedy: str = Field(min_length=1, max_length=4000, description="What to change, file by file.")
    requirement: str = Field(
        default="",
        max_length=200,
        description="A package that is missing and cannot be done without, as NAME or NAME==VERSION.",
    )


class Plan(BaseModel):
    """What is changed for all failed criteria together."""

    steps: list[str] = Field(
        min_length=1,
        max_length=40,
        description="One sentence each: the file, the change, and the criteria it turns, such as `F3, F7`.",
    )
    hopeless: list[str] = Field(
        default_factory=list,
        max_length=60,
        description="Criteria that cannot be met here, each as `F4: the reason`.",
    )

    @property
    def given_up(self) -> frozenset[str]:
        """Ids of the criteria that cannot be met here."""
        return frozenset(one.partition(":")[0].strip() for one in self.hopeless)

    def text(self) -> str:
        """The plan as the code role sees it."""
        left = [f"Not to be met: {one}" for one in self.hopeless]
        return "\n".join([*(f"{number}. {step}" for number, step in enumerate(self.steps, 1)), *left])


@dataclass(frozen=True)
class Roles:
    """Both roles at work on one paper: what they are given, and the model that plays them."""

    brief: Brief
    context: PaperContext

    def learn(self, version: Version, run: Scope, name: str = "learn") -> State:
        """The state after a stage; `begin`: what is to be built, before any code."""
        answer = self.ask(name, version, run, Learnt)
        decided = tuple(one.strip()[:LONGEST] for one in answer.decisions)
        asked = tuple(one.strip()[:LONGEST] for one in answer.questions)
        return replace(version.state, summary=answer.summary, decisions=decided, questions=asked)

    def write(self, version: Version, run: Scope) -> Made:
        """The project with the files of a stage, and what was assumed."""
        new = version.stage.new

        def check(answer: Written) -> None:
            made = with_files(version.project, answer.files)
            if missing := [name for name in new if name not in made.files]:
                raise ValueError(f"These files are missing: {', '.join(missing)}.")

        task = prompt_texts(PACKAGE)["tasks"][version.stage.value]
        answer = self.ask("write", version, run, Written, check, task=task, files=", ".join(new))
        return with_files(version.project, answer.files), answer.assumptions

    def edit(self, name: str, version: Version, run: Scope, **shown: str) -> Made:
        """The project after the edits that the model answers; a reviewer may give none."""

        def apply(change: Edited) -> Project:
            idle = name == "refactor" and change.is_empty
            return version.project if idle else edited(version.project, change)

        def check(change: Edited) -> None:
            apply(change)

        change = self.ask(name, version, run, Edited, check, **shown)
        return apply(change), change.assumptions

    def ask(
        self, name: str, version: Version, run: Scope, answer: type[T],
        check: Callable[[T], None] | None = None, **shown: str,
    ) -> T:  # fmt: skip
        """One question; its prompt takes what it names of the brief, the version and what else is shown."""
        template = load_prompt(PACKAGE, f"prompts/{name}.md")
        problems = version.found.problems
        known = {
            **self.brief.shared(),
            "rules": files(PACKAGE).joinpath("prompts/contract.txt").read_text(encoding="utf-8").strip(),
            "state": version.state.text(),
            "project": version.project.text() or "nothing yet",
            "stage": version.stage.value,
            "problems": problems_text(problems),
            "printed": last_output(problems),
            **shown,
        }
        prompt = template.fill(**{one: known[one] for one in template.variables})
        step = template.name.rpartition("/")[2]
        return ask(run, self.context.model, step, prompt, answer, check=check)


def judged_text(criteria: Sequence[Criterion], judged: Sequence[Judged]) -> str:
    """Criteria that do not hold, with what was seen, as a model sees them."""
    facts = {one.id: one.fact for one in criteria}
    lines = []
    for one in judged:
        if not one.value.is_settled:
            where = f" ({', '.join(str(line) for line in one.lines)})" if one.lines else ""
            fact = facts.get(one.criterion, "")
            lines.append(f"{one.criterion} {one.value}: {fact} Seen: {one.reason}{where}")
    return "\n".join(lines) or "all hold"
