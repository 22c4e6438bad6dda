"""A claim as a model answers it, and the same in the program's own terms. Nothing of it is believed."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Literal

from pydantic import BaseModel, Field

from reenact.claims.check import Check
from reenact.claims.claim import About, Claim, Expected
from reenact.claims.edit import checked
from reenact.codegen.edits import LONGEST_SCRIPT, Swap, unfenced
from reenact.errors import PatchRefused
from reenact.llm.ask import bounded
from reenact.program.edit.change import Rewrite
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.types import Place

MOST_SWAPS = 8
MODEL = "a model"


class ProposedEdit(BaseModel):
    """An edit alone."""

    swaps: list[Swap] = bounded(
        MOST_SWAPS, "Texts and what takes their place.", default_factory=list
    )


class Proposed(BaseModel):
    """One claim."""

    says: str = bounded(600, "The property that should hold, without naming the edit.")
    harm: str = bounded(600, "What goes wrong for the user otherwise.", default="")
    file: str = bounded(200, "Name of the file; empty for the first one.", default="")
    line: int = Field(ge=0, description="Number of the line where it arises.")
    quote: str = bounded(400, "The text of that line.", default="")
    about: Literal["training", "evaluation", "leak", "selection"] = "training"
    swaps: list[Swap] = bounded(MOST_SWAPS, "The edit after which it holds.")
    script: str = Field(max_length=LONGEST_SCRIPT, description="The check.")
    check: Check
    expects: Literal["better", "lower but honest", "other", "same"] = "better"


class Proposals(BaseModel):
    """An answer of claims alone."""

    claims: list[Proposed] = bounded(3, "The surest first; empty is a good answer.")


class Doubt(BaseModel):
    """The answer of somebody who looks for a reason to leave the code as it is."""

    reason: str = bounded(
        1200, "Why an expert would leave it; empty where there is none.", default=""
    )
    script: str = Field(
        default="", max_length=LONGEST_SCRIPT, description="A counter-check, or empty."
    )
    check: Check | None = None


def claim_of(proposed: Proposed, program: Program) -> Claim:
    """The claim in the program's own terms. Raises PatchRefused in words for the model."""
    return Claim(
        says=" ".join(proposed.says.split()),
        patch=patch_of(proposed.swaps, program),
        script=unfenced(proposed.script),
        check=proposed.check,
        about=About(proposed.about),
        expected=Expected(proposed.expects),
        harm=" ".join(proposed.harm.split()),
        place=_place(proposed, program),
        by=MODEL,
    )


def patch_of(swaps: list[Swap], program: Program) -> Patch:
    """The edit as a patch. Raises PatchRefused in words for the model."""
    if not swaps:
        raise PatchRefused("The claim has no edit.")
    found = [Rewrite(_file(one.path, program), one.search, one.replace) for one in swaps]
    return checked(Patch(tuple(found)), program)


def _file(name: str, program: Program) -> str:
    if program.file(name) is not None:
        return name
    alike = [one for one in program.files if str(one.path).endswith(f"/{name}")]
    return str(alike[0].path) if len(alike) == 1 else (name or str(program.entry))


def _place(proposed: Proposed, program: Program) -> Place | None:
    """The quoted line: where the answer has it, else the only one that reads so."""
    name = _file(proposed.file, program) if proposed.file else str(program.entry)
    file = program.file(name)
    if file is None:
        return None
    text = program.script() if file is program.entry_file else file.text
    lines = [line.strip() for line in text.splitlines()]
    quoted = proposed.quote.strip()
    path = PurePosixPath(name)
    if 0 < proposed.line <= len(lines) and (not quoted or lines[proposed.line - 1] == quoted):
        return Place(path, proposed.line)
    if lines.count(quoted) == 1:
        return Place(path, lines.index(quoted) + 1)
    return None


@cache
def rules_of_checks() -> str:
    """How a check is written, as prompts say it."""
    return files("reenact.diagnosis").joinpath("prompts/check.md").read_text(encoding="utf-8")
