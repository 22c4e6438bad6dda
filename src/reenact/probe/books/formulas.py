"""What the book of formulas holds: losses of known families, as they were given and by their graphs."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.types import Place

Sums = tuple[tuple[float, ...], ...]
"""By axis: the smallest and the largest sum along it; empty where all is 0."""


@dataclass(frozen=True, slots=True)
class DivergenceCall:
    """One call of `kl_div` that trains something."""

    value: float | None
    """The mean over the rows; none where it is not finite."""
    log_target: bool
    given: tuple[float, float]
    """Smallest and largest number of the input, which should be logarithms of probabilities."""
    target: tuple[float, float]
    given_sums: Sums
    given_exp_sums: Sums
    """Of the exponentials of the input."""
    target_sums: Sums
    target_exp_sums: Sums
    learns: str = "input"
    """What a gradient comes to: `input`, or `target` where it comes to that alone."""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class SoftTarget:
    """Targets that give a number to each class."""

    range: tuple[float, float]
    sums: tuple[float, ...]
    """Smallest and largest sum along the classes."""
    several: float
    """Share of the rows in which several classes have a number other than 0."""


@dataclass(frozen=True, slots=True)
class Shifted:
    """One number is added to all scores of a row."""

    place: Place | None = None


@dataclass(frozen=True, slots=True)
class ScoresCall:
    """One call of a loss of classes that trains something."""

    loss: str
    """Its name in torch: `cross_entropy`."""
    classes: int
    """Numbers along the second axis."""
    given: tuple[float, float]
    """Smallest and largest number of the input."""
    sums: tuple[float, ...]
    """Smallest and largest sum along the classes."""
    exp_sums: tuple[float, ...]
    bend: str
    """`softmax`, `sigmoid`, `log_softmax`, `log_sigmoid` where that made the input."""
    soft: SoftTarget | None = None
    shifted: Shifted | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Backward:
    """Where a backward pass was."""

    place: Place | None = None


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A cross-entropy that the program writes itself, from the logarithm of a softmax."""

    seen: int
    """Losses that had it."""
    raised: int
    """Of them those that it makes up alone, and that grow as their classes get likelier."""
    axis: int
    """Along which the softmax goes."""
    rank: int
    target_sums: Sums
    """Of targets that give a number to each class; empty for others."""
    backward: Backward = Backward()
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Turned:
    """A term whose sign makes it fall without end."""

    seen: int
    """Losses that had it."""
    backward: Backward = Backward()
    place: Place | None = None
    """Where it is computed; none where no pass was followed."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Logarithms of probabilities that have weights of both signs in a loss."""

    seen: int
    """Losses that had them."""
    lowered: int
    """Of them those that make likelier what came out worse than a critic of the same rows expected."""
    raised: int
    """Of them those that make likelier what came out better."""
    smaller: int
    """Of them those of which the smaller of two products counts, and is lowered."""
    backward: Backward = Backward()
    place: Place | None = None
    """Where the weights are multiplied; none where no pass was followed."""


@dataclass(frozen=True, slots=True)
class Returns:
    """Weights of actions that are sums of rewards."""

    backward: int
    """Losses in which they count what came after an action, as returns do."""
    forward: int
    """Losses in which they count what came before it."""
    at: Backward = Backward()


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule of learning rates that has a planned length."""

    kind: str
    """Its class."""
    planned: int
    """Steps of the schedule after which it is over; of milestones the last."""
    falls: bool
    """At its end the learning rate is small."""
    wraps: bool
    """After its end it goes back."""
    stepped: int
    place: Place | None = None
    """Where it is made."""


@dataclass(frozen=True, slots=True)
class FormulasBook:
    """Of the losses that were looked at."""

    read: int
    """Losses whose graph was read."""
    divergences: tuple[DivergenceCall, ...] = ()
    scores: tuple[ScoresCall, ...] = ()
    turned: tuple[Turned, ...] = ()
    policies: tuple[Policy, ...] = ()
    likelihoods: tuple[WrittenOut, ...] = ()
    returns: tuple[Returns, ...] = ()
    climbs: bool = False
    """An optimizer raises what it is given, or the program moves its weights by hand."""
    schedules: tuple[Schedule, ...] = ()
