"""What passed between a script and the project in one run, as the watcher in the box wrote it
down.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

LOST = -1
"""The route of a script that was not followed to its end."""


@dataclass(frozen=True, slots=True)
class CallEvent:
    """Something that passed between script and project."""

    way: str
    """`in`: from the script into the project; `out`: from the project to the script."""
    function: str
    """The function that was called, with its class."""
    line: int
    """Of the script."""
    tree: int
    """Which of the trees holds what passed."""
    route: int = LOST
    """Every instruction that the script itself ran until then, as one number."""


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """What passed between script and project in one run, in its order."""

    trees: tuple[Mapping[str, str], ...] = ()
    """Values as leaves: path and content."""
    events: tuple[CallEvent, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    """What modules and classes of the project hold that is not code."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """Leaves of what the script left to look at: `observed`, `reference`."""
    route: int = LOST
    """The same for the whole script."""
    closed: bool = False
    """Something came back that cannot be looked into."""
    cut: str = ""
    """Why not everything was recorded."""
