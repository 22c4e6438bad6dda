"""What the user of `reenact paper` may ask for."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from reenact.journal import mark
from reenact.result import encoded
from reenact.types import JsonValue, Switches


@dataclass(frozen=True, slots=True)
class PaperAblations(Switches):
    """Parts of the method that can be switched off."""

    lineage: bool = True
    """Read the cited papers that matter, and their code."""
    fingerprint: bool = True
    """Take criteria from the paper and verify the code against them."""
    debug: bool = True
    """Run what was written and fix what breaks."""
    refine: bool = True
    """Revise code that runs but fails criteria."""
    figures: bool = True
    """Show the paper's figures to a model that can see."""
    atomicity: bool = True
    """Split facts into atoms."""
    scan: bool = True
    """Read every paragraph for what the guides missed."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What of the paper is to be reproduced, in the user's words; empty means all of it."""

    task: str = ""
    method: str = ""
    metric: str = ""
    dataset: str = ""
    instruction: str = ""
    addendum: str = ""
    """What the authors or the user add to the paper."""

    @property
    def is_all(self) -> bool:
        """Whether nothing was left out."""
        return not any(
            (
                self.task,
                self.method,
                self.metric,
                self.dataset,
                self.instruction,
            )
        )

    def text(self) -> str:
        """The goal as a model sees it."""
        given = [
            f"{name}: {value}"
            for name, value in asdict(self).items()
            if value and name != "addendum"
        ]
        return "\n".join(given) or "All experiments and baselines of the paper."


@dataclass(frozen=True, slots=True)
class PaperOptions:
    """What the user may ask for; every option has a default."""

    goal: Goal = field(default_factory=Goal)
    data: Path | None = None
    """The user's folder of data, seen read-only by the generated code."""
    checkpoints: Path | None = None
    """The user's folder of trained weights, seen read-only."""
    exemplars: int = 3
    """How many cited papers are looked into."""
    rounds: int = 3
    """Revisions after verification."""
    tries: int = 20
    """Attempts to fix what does not run, a stage."""
    seeds: int = 3
    """Full runs."""
    scale: float = 1.0
    """Share of the paper's training that the full runs do; a smaller one is declared in every
    table.
    """
    wall_s: float = 300.0
    """CPU seconds that a dry run or a test may take; by the clock it may take `PATIENCE` times
    as long.
    """
    run_wall_s: float = 3600.0
    """CPU seconds that a full run may take."""
    requirements: tuple[str, ...] = ()
    """Packages that the generated code may use besides those of this interpreter."""
    claims: tuple[str, ...] = ()
    """What the user states that the paper claims, next to what stands in its text and tables."""
    anyway: bool = False
    """Write and run the code also where nothing could be compared."""
    repair: bool = True
    """When the gap is large: diagnose and repair what the paper leaves open."""
    parts: PaperAblations = field(default_factory=PaperAblations)

    def to_json(self) -> JsonValue:
        """What a journal compares to tell one request from another."""
        return encoded(
            asdict(
                replace(
                    self,
                    goal=replace(self.goal, addendum=mark(self.goal.addendum)),
                )
            )
        )


def share(scale: float) -> str:
    """A share of a training in words of a table: `25%`, and `0.5%` where whole per cents would
    say none.
    """
    if scale >= 0.01:
        return f"{scale:.0%}"
    return f"{100 * scale:.1g}%"
