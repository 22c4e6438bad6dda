"""What must be seen for a bug to be shown: an exception in project code, or a property of a
value.
"""

import re
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from reenact.bug.inside.judge import in_order
from reenact.claims.check import LEAST_LETTERS, Check

TOO_GENERAL = frozenset(
    {"", "Exception", "BaseException", "Error", "SystemExit", "KeyboardInterrupt"}
)


class Explicit(BaseModel):
    """An exception that must come out of project code."""

    exception: str = Field(
        max_length=100, description="Name of the exception's class, without its module."
    )
    message: str = Field(
        default="",
        max_length=400,
        description=(
            "Words of its message as reported, with * for what may vary (numbers, names, shapes)."
        ),
    )
    phase: Literal[
        "import",
        "construct",
        "load",
        "forward",
        "backward",
        "train",
        "evaluate",
        "save",
        "other",
    ] = "other"
    functions: list[str] = Field(
        default_factory=list,
        max_length=20,
        description=(
            "Functions of the project in the reported traceback, innermost last; empty without one."
        ),
    )

    @model_validator(mode="after")
    def _particular(self) -> Self:
        if self.exception.rpartition(".")[2] in TOO_GENERAL:
            raise ValueError("name the very class of the exception, not one that covers everything")
        return self

    @property
    def name(self) -> str:
        """The class without its module."""
        return self.exception.rpartition(".")[2]

    @property
    def fragments(self) -> tuple[str, ...]:
        """What must stand in the message, in this order."""
        return tuple(part for part in (_flat(piece) for piece in self.message.split("*")) if part)

    def fits(self, classes: Sequence[str], message: str) -> bool:
        """Whether an exception with these classes (its own and its bases) and message is the
        reported one.
        """
        return self.name in classes and in_order(list(self.fragments), message)


class Symptom(BaseModel):
    """What a bug looks like, in terms that code can check."""

    kind: Literal["explicit", "silent"] = Field(
        description="explicit: an exception; silent: anything else."
    )
    sign: str = Field(description="Code of the symptom class, from the list.")
    fault: str = Field(
        default="",
        description="Code of the fault class that is suspected, from the list.",
    )
    words: str = Field(max_length=1000, description="The symptom in one sentence.")
    explicit: Explicit | None = Field(default=None, description="For kind explicit.")
    check: Check | None = Field(default=None, description="For kind silent.")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if self.kind == "explicit" and self.explicit is None:
            raise ValueError("an explicit symptom needs `explicit`")
        if self.kind == "silent" and self.check is None:
            raise ValueError("a silent symptom needs `check`")
        return self

    @property
    def is_silent(self) -> bool:
        return self.kind == "silent"

    @property
    def raised(self) -> Explicit | None:
        """The exception; none of a silent bug."""
        return None if self.is_silent else self.explicit

    @property
    def closing(self) -> Check | None:
        """The closing check of a silent bug."""
        return self.check if self.is_silent else None

    @property
    def absent_module(self) -> str:
        """The module whose absence the symptom is: that of `No module named 'jax'`; empty for
        others.
        """
        named = re.search(
            # Facts of a run keep their words in small letters.
            r"(?i)No module named '?(\w+)",
            self.raised.message if self.raised else "",
        )
        return named[1] if named is not None else ""

    def grounded(self, report: str) -> bool:
        """Whether the report itself says what must be seen, so that seeing it needs no further
        proof. True of an exception whose class and words stand in the report. A model's guess is
        not enough.
        """
        reported = self.raised
        if reported is None or reported.name not in report:
            return False
        letters = sum(
            map(
                str.isalnum,
                "".join(reported.fragments),
            )
        )
        return letters >= LEAST_LETTERS and all(
            part in _flat(report) for part in reported.fragments
        )

    def functions_in(self, report: str) -> tuple[str, ...]:
        """The functions of the traceback that the report really names."""
        named = []
        if self.explicit is not None:
            named = self.explicit.functions
        words = set(re.findall(r"\w+", report))
        return tuple(one for one in (name.rpartition(".")[2] for name in named) if one in words)


def _flat(text: str) -> str:
    return " ".join(text.split()).lower()
