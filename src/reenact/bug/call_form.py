"""A second form of a call for the fixed revision: for fixes that add a parameter.

We choose the form by the revision, the script never does; the rest of it stays byte for byte the same.
A form may add keywords with literal values that the buggy revision does not take, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field


class CallForm(BaseModel):
    """One call and how it is written for the fixed revision."""

    call: str = Field(max_length=1000, description="The call just as it stands in the script, once.")
    fixed: str = Field(max_length=1000, description="The same call with the keywords that the fix adds.")

    def words(self) -> str:
        return f"On the fixed revision `{self.call}` is called as `{self.fixed}`."


def on_fixed(script: str, forms: Sequence[CallForm]) -> str:
    """The script as the fixed revision runs it."""
    for form in forms:
        script = script.replace(form.call, form.fixed)
    return script


def by_revision(script: str, forms: Sequence[CallForm]) -> str:
    """The script with both forms, the second one where `_FIXED` is true: for repro.py."""
    for form in forms:
        script = script.replace(form.call, f"({form.fixed} if _FIXED else {form.call})")
    return script
