"""`relay:FOLDER`: somebody else answers, through files in a folder. See relay_folder.py and docs/relay.md."""

from __future__ import annotations

from pathlib import Path

from reenact.errors import ModelUnreachable
from reenact.llm.clock import Clock
from reenact.llm.patience import Patience
from reenact.llm.relay_folder import open_folder, put_request, take_answer
from reenact.llm.wire import Call, Reply
from reenact.types import Progress, Tell, tell_nobody

FIRST_LOOK_S = 0.05
LONGEST_LOOK_S = 1.0
"""Looks at the folder become rarer the longer nobody answers."""
TELL_EVERY_S = 60.0
"""A log of hours should not consist of waiting."""


class RelayWire:
    """A folder where a person or another program answers."""

    name = "relay"
    billed = False

    def __init__(self, folder: Path, patience: Patience, clock: Clock, tell: Tell = tell_nobody) -> None:
        self._folder = open_folder(folder)
        self._patience = patience
        self._clock = clock
        self._tell = tell

    def send(self, call: Call, within_s: float) -> Reply:
        asked = put_request(self._folder, call)
        begun = self._clock.now()
        until = begun + min(self._patience.relay_s, within_s)
        look, tell_at = FIRST_LOOK_S, begun
        while (filed := take_answer(self._folder, asked)) is None:
            now = self._clock.now()
            if now >= until:
                raise ModelUnreachable(
                    f"Nobody answered the request {asked} of step {call.step} in time.",
                    next_step=f"Answer it with `reenact relay {self._folder} {asked} --answer FILE`"
                    " and run the same command: it finds the answer.",
                )
            if now >= tell_at:
                self._tell(Progress("relay", note=f"waiting for an answer to {asked} in {self._folder}"))
                tell_at = now + TELL_EVERY_S
            self._clock.sleep(look)
            look = min(look * 1.5, LONGEST_LOOK_S)
        who = f"relay:{filed.by}" if filed.by else self.name
        return Reply(filed.text, who, usage=filed.usage)
