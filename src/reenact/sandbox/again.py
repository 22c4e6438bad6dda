"""Runs a box again that was killed from outside: such an end says nothing about the program.

Who sent a SIGKILL cannot be seen: the kernel of a machine without memory, a person, or the program
itself. The number of boxes is bounded, so that a program which always kills itself comes to an end
too.
"""

from collections.abc import Callable
from dataclasses import replace

from reenact.sandbox.box import BoxResult, Command, Ending, Limits, OnOutput, Sandbox
from reenact.types import Stop

MOST_BOXES = 3
"""So many boxes of one command may be killed before it counts as one that could not be run."""


def run_again_if_killed(
    sandbox: Sandbox,
    command: Command,
    limits: Limits,
    *,
    listen: Callable[[], OnOutput | None] = lambda: None,
    stop: Stop | None = None,
) -> BoxResult:
    """The result of the first box that was not killed; that of the last one, which says how often,
    when all were. `listen` makes a listener for each box: what a killed one printed is not passed
    on twice.
    """
    for _ in range(MOST_BOXES):
        result = sandbox.run(
            command,
            limits,
            on_output=listen(),
            stop=stop,
        )
        if result.ending is not Ending.KILLED:
            return result
    return replace(
        result,
        why=f"the box was killed {MOST_BOXES} times, the last time: {result.why}",
    )
