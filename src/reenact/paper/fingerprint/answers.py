"""What a model may propose for the fingerprint; nothing of it is believed before it is grounded."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, Field

from reenact.paper.criterion import Kind

MOST_ITEMS = 200


class Sort(StrEnum):
    """What a proposed fact is; the last two are no criteria."""

    ACTION = "action"
    """Something the code must do."""
    SETUP = "setup"
    """Something the data, the model or the experiment must be set to."""
    VERIFICATION = "verification"
    """How the outcome must be measured."""
    RESULT = "result"
    """What came out."""
    CLAIM = "claim"
    """A judgement, motivation, comparison or promise."""


class ProposedCheck(BaseModel):
    """What a program could look for."""

    kind: Kind
    subject: str = Field(max_length=120, description="Name of the parameter, layer or thing.")
    value: str = Field(max_length=200, description="Its value as the paper writes it.")
    expression: str = Field(
        default="",
        max_length=400,
        description="For a formula: Python over numpy as np, free names are the inputs. Else empty.",
    )


class Proposed(BaseModel):
    """One fact."""

    fact: str = Field(min_length=1, max_length=1500, description="What must hold, as one sentence.")
    scope: str = Field(default="", max_length=300, description="Where it holds.")
    quote: str = Field(
        min_length=1, max_length=3000, description="Words of the paper it rests on, exactly as they stand."
    )
    places: list[str] = Field(max_length=20, description="Ids of the sentences or blocks that are quoted.")
    sort: Sort
    weight: int = Field(default=1, ge=1, le=3)
    check: ProposedCheck | None = None


class Guide(BaseModel):
    """Facts of a paper."""

    items: list[Proposed] = Field(max_length=MOST_ITEMS)


class Atom(BaseModel):
    """One part of a compound fact."""

    fact: str = Field(min_length=1, max_length=800, description="One thing, as a sentence that stands alone.")
    scope: str = Field(default="", max_length=300)
    check: ProposedCheck | None = None


class Split(BaseModel):
    """One fact taken apart."""

    number: int = Field(description="Number of the fact.")
    atoms: list[Atom] = Field(max_length=20)


class Splits(BaseModel):
    """All facts taken apart."""

    facts: list[Split] = Field(max_length=MOST_ITEMS)
