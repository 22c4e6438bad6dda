"""What a model answers when it writes scripts: a whole one, or changes to the last one by line range."""

from __future__ import annotations

from itertools import pairwise

from pydantic import BaseModel, Field

from reenact.bug.validate.parses import LONGEST
from reenact.codegen.edits import fits, in_order, unfenced, with_lines


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
        ordered = in_order(self.edits)
        for before, after in pairwise(ordered):
            if after.first <= before.last:
                raise ValueError(f"Two edits touch line {after.first}. Give one edit for it.")
        for edit in reversed(ordered):
            if not fits(edit, lines):
                raise ValueError(
                    f"There are no lines {edit.first} to {edit.last}; the script has {len(lines)} lines."
                )
        return with_lines(lines, ordered)
