"""What a model answers when it writes scripts: a whole one, or changes to the last one by line range."""

from __future__ import annotations

from itertools import pairwise

from pydantic import BaseModel, Field

from reenact.bug.validate.parses import LONGEST


class Draft(BaseModel):
    """A first script."""

    script: str = Field(max_length=LONGEST, description="The whole script, Python, without a code fence.")


class Edit(BaseModel):
    """New text for a range of lines."""

    first: int = Field(ge=1, description="First line that is replaced, counted from 1.")
    last: int = Field(ge=0, description="Last line that is replaced; first - 1 inserts before the first.")
    text: str = Field(max_length=LONGEST, description="The new lines; empty removes the old ones.")


class Revision(BaseModel):
    """A changed script: either edits or the whole."""

    edits: list[Edit] = Field(default_factory=list, max_length=40)
    script: str = Field(
        default="", max_length=LONGEST, description="The whole script; empty when edits are given."
    )

    def applied_to(self, old: str) -> str:
        """The script after the change. Raises ValueError in words for the model."""
        if self.script.strip():
            return unfenced(self.script)
        if not self.edits:
            raise ValueError("Give edits or a whole script.")
        lines = old.splitlines()
        ordered = sorted(self.edits, key=lambda edit: (edit.first, edit.last))
        for before, after in pairwise(ordered):
            if after.first <= before.last:
                raise ValueError(f"Two edits touch line {after.first}. Give one edit for it.")
        for edit in reversed(ordered):
            if edit.last > len(lines) or edit.first > len(lines) + 1 or edit.last < edit.first - 1:
                raise ValueError(
                    f"There are no lines {edit.first} to {edit.last}; the script has {len(lines)} lines."
                )
            lines[edit.first - 1 : edit.last] = edit.text.splitlines()
        return "\n".join(lines) + "\n"


def unfenced(text: str) -> str:
    """A script without the code fence that models like to put around it."""
    lines = text.strip("\n").splitlines()
    if len(lines) > 2 and lines[0].strip().startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return "\n".join(lines) + "\n"
