"""A box that was killed from outside is run again, a bounded number of times."""

from __future__ import annotations

import pytest

from contracts.sandbox import python
from killed_boxes import KilledFromOutside
from reenact.sandbox.again import MOST_BOXES, run_again_if_killed
from reenact.sandbox.box import MIB, Ending, Limits, OnOutput
from reenact.sandbox.choose import choose

SLOW = python("import time; print('begun', flush=True); time.sleep(2); print('done')")
LIMITS = Limits(wall_s=60)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kills", range(MOST_BOXES))
def test_the_first_box_that_lives_gives_the_result(kills: int) -> None:
    messages: list[list[bytes]] = []
    sandbox = KilledFromOutside(choose(trust_code=True), kills)

    def listen() -> OnOutput:
        messages.append([])
        return messages[-1].append

    result = run_again_if_killed(sandbox, SLOW, LIMITS, listen=listen)
    assert (result.ending, result.output) == (Ending.OK, "begun\ndone\n")
    assert sandbox.boxes == kills + 1
    assert b"".join(messages[-1]) == b"begun\ndone\n", "a listener hears one box"


def test_boxes_that_are_always_killed_come_to_an_end_that_says_how_often() -> None:
    sandbox = KilledFromOutside(choose(trust_code=True), times=100)
    result = run_again_if_killed(sandbox, SLOW, LIMITS)
    assert (result.ending, sandbox.boxes) == (Ending.KILLED, MOST_BOXES)
    assert result.why.startswith(f"the box was killed {MOST_BOXES} times")
    assert not result.ending.is_evidence


def test_a_program_that_kills_itself_is_not_run_without_end() -> None:
    sandbox = KilledFromOutside(choose(trust_code=True), times=0)
    result = run_again_if_killed(sandbox, python("import os; os.kill(os.getpid(), 9)"), LIMITS)
    assert (result.ending, sandbox.boxes) == (Ending.KILLED, MOST_BOXES)


@pytest.mark.parametrize(
    ("program", "limits", "ending"),
    [
        ("import time; time.sleep(60)", Limits(wall_s=0.5), Ending.TIMEOUT),
        (
            "x = b'x' * (400 << 20)\nwhile True: pass",
            Limits(memory_bytes=100 * MIB),
            Ending.MEMORY_LIMIT,
        ),
        ("import os; os.abort()", LIMITS, Ending.SIGNAL),
    ],
)
def test_what_a_limit_or_the_program_ended_is_not_run_again(
    program: str, limits: Limits, ending: Ending
) -> None:
    sandbox = KilledFromOutside(choose(trust_code=True), times=0)
    result = run_again_if_killed(sandbox, python(program), limits)
    assert (result.ending, sandbox.boxes) == (ending, 1)
