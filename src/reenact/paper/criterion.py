"""One atom of the fingerprint: a fact of the paper with its scope, and what was found of it in
the code.
"""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How the criterion was found."""

    FRAMEWORK = "framework"
    """While describing the parts of the system."""
    CONFIGURATION = "configuration"
    """While listing its settings."""
    PARAGRAPH = "paragraph"
    """While reading every paragraph for what was missed."""


class Category(StrEnum):
    """What the criterion asks for; results and claims of the paper are not criteria."""

    ACTION = "action"
    """Something the code must do."""
    SETUP = "setup"
    """Something the experiment must be set to."""
    VERIFICATION = "verification"
    """How it must be measured."""


class Kind(StrEnum):
    """What a program can check by itself."""

    PARAMETER = "parameter"
    """A named setting has a value."""
    OPTIMISER = "optimiser"
    """The training uses this optimiser."""
    SCHEDULE = "schedule"
    """The learning rate follows this schedule."""
    LOSS = "loss"
    """The training minimises this loss."""
    LAYER = "layer"
    """The model has such a layer, with a size or a number of them."""
    SHAPE = "shape"
    """Something has this shape."""
    FORMULA = "formula"
    """A function of the code gives these values for these inputs."""


@dataclass(frozen=True, slots=True)
class CriterionCheck:
    """What a program looks for."""

    kind: Kind
    subject: str
    """The parameter, layer, or thing: `learning rate`, `hidden units`, `momentum coefficient`."""
    value: str
    """The value as the paper writes it: `0.001`, `Adam`, `64`, `cosine`."""
    expression: str = ""
    """For a formula: Python over numpy that gives the expected value from sample inputs."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One fact that the code must show."""

    id: str
    """`F1`, `F2`, ... in the order of the paper."""
    fact: str
    """What must hold, one thing, as a sentence."""
    scope: str
    """Where it holds: the whole method, training, one data set, one experiment."""
    quote: str
    """Words of the paper it rests on; found there mechanically."""
    places: tuple[str, ...]
    """Ids of the sentences, equations, tables or algorithms in which the quote is."""
    level: Level
    category: Category
    weight: int
    """1 to 3: how much the method depends on it."""
    check: CriterionCheck | None = None


class Value(StrEnum):
    """What was found of a criterion."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    UNKNOWN = "cannot judge"
    CONTRADICTED = "the paper contradicts itself"
    """The paper states something else too, and the code follows that."""

    @property
    def is_settled(self) -> bool:
        """Whether no change of the code is asked for."""
        return self in (Value.PASS, Value.CONTRADICTED)


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the generated code."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found of one criterion in one version of the code."""

    criterion: str
    value: Value
    by: str
    """`check` when a program found out, `judge` when a model did, `no one` when neither could."""
    reason: str
    """What was seen, or why it cannot be judged; never empty."""
    lines: tuple[CodeLine, ...] = ()
    """The code that the verdict rests on; a pass by a judge without any does not count."""
