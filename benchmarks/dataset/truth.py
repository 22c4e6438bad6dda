"""Whether what was named is true of a training: by kind and line, or by type of fault if it is
foreign.

The two sorts were published with these rules, each over its own programs, so each keeps them.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from typing import Protocol

from benchmarks.dataset.kinds import TYPES, categories
from benchmarks.dataset.result import NamedFault
from benchmarks.dataset.training import Training, Truth, accepted
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import all_detectors

MOST_LINES = 40
"""A place that is longer shows nobody a line."""
SAME = {FaultType.ARM: FaultType.ACH, FaultType.AAL: FaultType.ACH}
"""Missing, wrong and redundant activations are one thing seen from different sides."""


class Judge(Protocol):
    """How one sort of training is judged."""

    crashes: frozenset[str]
    """Rules that explain a crash: above the threshold that is a finding, though it has no type
    of fault.
    """

    @abstractmethod
    def is_true(self, named: NamedFault, training: Training) -> bool:
        """Whether a finding says what is true of the program."""

    @abstractmethod
    def is_at_its_line(self, named: NamedFault, training: Training) -> bool:
        """Whether it is true, and at a line where a reader accepts it."""

    @abstractmethod
    def counts(self, named: NamedFault, training: Training) -> bool:
        """Whether it counts against a program that has no such fault."""

    @abstractmethod
    def shown(self, named: NamedFault) -> str:
        """In a table."""

    @abstractmethod
    def truth(self, training: Training) -> str:
        """What is wrong, with its lines, in a table."""


class KeptHere:
    """Programs of the data set: a kind of fault is named by rules; a place has a file and lines."""

    crashes = frozenset({"RE901", "RE902", "RE903", "RE904", "RE905", "RE907"})

    def is_true(self, named: NamedFault, training: Training) -> bool:
        return any(_says(named, truth) for truth in training.fault)

    def is_at_its_line(self, named: NamedFault, training: Training) -> bool:
        return any(
            _says(named, truth) and _is_at(named, training, truth) for truth in training.fault
        )

    def counts(self, named: NamedFault, training: Training) -> bool:  # noqa: ARG002
        return True

    def shown(self, named: NamedFault) -> str:
        where = f" {named.places[0][0]}:{named.places[0][1]}" if named.places else ""
        return f"{named.codes[0]}{where} ({named.confidence:.2f}): {named.saw}"

    def truth(self, training: Training) -> str:
        return "; ".join(f"{one.kind}:{'/'.join(map(str, one.lines))}" for one in training.fault)


class OfStrangers:
    """Foreign programs of one file: a type of fault at a line of the manifest, or at no line at
    all.
    """

    crashes = frozenset({"RE901", "RE902", "RE903", "RE904"})

    def is_true(self, named: NamedFault, training: Training) -> bool:
        lines = {line for truth in training.fault if _is_of(named, truth) for line in truth.lines}
        return bool(lines) and (
            not named.lines
            or any(first <= line <= last for first, last in named.lines for line in lines)
        )

    def is_at_its_line(self, named: NamedFault, training: Training) -> bool:
        return bool(named.lines) and self.is_true(named, training)

    def counts(self, named: NamedFault, training: Training) -> bool:
        """Not that a training is too short which the truth has cut."""
        cut = training.shortened and all(truth.kind != FaultType.HNE for truth in training.fault)
        return not (cut and named.fault is FaultType.HNE)

    def shown(self, named: NamedFault) -> str:
        where = f":{named.lines[0][0]}" if named.lines else ""
        return (
            f"{named.fault or '-'}{where} {named.codes[0]} ({named.confidence:.2f}, {named.status})"
        )

    def truth(self, training: Training) -> str:
        lines: dict[str, set[int]] = {}
        for truth in training.fault:
            lines.setdefault(truth.kind, set()).update(truth.lines)
        return ", ".join(f"{kind}:{'/'.join(map(str, sorted(at)))}" for kind, at in lines.items())


KEPT_HERE, OF_STRANGERS = KeptHere(), OfStrangers()


def judge_of(training: Training) -> Judge:
    """The one of its sort."""
    return KEPT_HERE if training.foreign is None else OF_STRANGERS


def _says(named: NamedFault, truth: Truth) -> bool:
    if not truth.kind:
        # Described in free text alone: readers say whether it is named, not its kind.
        return False
    meant = categories()[truth.kind]
    return any(_rule_names().get(code) in meant for code in named.codes)


@lru_cache
def _rule_names() -> dict[str, str]:
    return {rule.code: rule.name for rule in all_detectors()}


def _is_at(named: NamedFault, training: Training, truth: Truth) -> bool:
    name, lines = accepted(training, truth)
    return any(
        file == name and last - first < MOST_LINES and any(first <= line <= last for line in lines)
        for file, first, last in named.places
    )


def _is_of(named: NamedFault, truth: Truth) -> bool:
    """Whether a finding is of the same family of faults, or by a rule that the truth names."""
    if truth.kind not in TYPES:
        return truth.kind in named.codes
    fault = FaultType(truth.kind)
    return named.fault is not None and SAME.get(named.fault, named.fault) is SAME.get(fault, fault)
