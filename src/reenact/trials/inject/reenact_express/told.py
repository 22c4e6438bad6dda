"""What the bare loop tells: to the probe, a row a step; to whoever asked for the trial, what became of it."""

from __future__ import annotations

import json
import time

from reenact_express.refused import Refused

NAN = float("nan")
_REST = (NAN, NAN, NAN, NAN)


class Note:
    """A file of one JSON object: trainings expressed, and why the others were not."""

    def __init__(self, path):
        self.path = path
        self.expressed = 0
        self.refused = []

    def took(self):
        self.expressed += 1
        self._write()

    def refuses(self, reason):
        if reason not in self.refused:
            self.refused.append(reason)
        self._write()

    def _write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"expressed": self.expressed, "refused": self.refused}, file)


class Rows:
    """Writes the steps of an epoch into the probe's table, all at once."""

    def __init__(self, batch):
        from reenact_probe import boot, guard

        self.session = boot.current()
        self.batch = batch
        if self.session is None or guard.state.asleep:
            self.session = None
            return
        config = self.session.config
        if config.experiments is not None or not self.session.recorder.schedule.bare:
            raise Refused("the probe looks closely at its steps")

    @property
    def left(self):
        """Steps that the budget still allows; none for no bound."""
        stop = None if self.session is None else self.session.config.stop_after
        return None if stop is None else max(0, stop - self.session.recorder.step)

    def write(self, losses, rates, began):
        """One row a step; the times between are evenly spread, as nobody looked at the clock."""
        if self.session is None:
            return
        recorder = self.session.recorder
        now = time.perf_counter()
        pause = (now - began) / max(1, len(losses))
        steps = self.session.torch.steps if self.session.torch is not None else None
        add = steps.add_row if steps is not None else recorder.tables["steps"].add
        for number, (loss, rate) in enumerate(zip(losses, rates), 1):
            at = began + number * pause - recorder.began
            add((recorder.step, at, recorder.epoch, loss, rate, self.batch, 1, 0.0, 1.0, 0.0, 0, 0.0, *_REST))
            recorder.step += 1
        if now >= recorder.next_flush:
            recorder.flush()

    def stop_when_spent(self):
        """End the process when its budget of steps is used up."""
        if self.left == 0:
            from reenact_probe import ending

            ending.stop_here(self.session.recorder)
