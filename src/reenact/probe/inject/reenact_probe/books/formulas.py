"""The book of formulas: losses of known families, by what they are given and by the graph they leave."""

from __future__ import annotations

from reenact_probe.books import Book
from reenact_probe.books.addends import Addends, addends
from reenact_probe.books.divergences import given_to_divergence, turned_divergences
from reenact_probe.books.likelihoods import likelihood_of
from reenact_probe.books.policies import Weighed, errors, likeness, weighed
from reenact_probe.books.returns import direction_of
from reenact_probe.books.schedules import Schedules
from reenact_probe.books.scores import LOSSES, given_to_loss_of_classes
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.capture import LossCall
from reenact_probe.torch.trail import Trail
from reenact_probe.types import Facts, Library, Optimizer, Place, Tensor

MOST_CALLS = 64
"""Calls of losses whose numbers are looked at."""
MOST_LINES = 16
MOST_READ = 12
"""Losses of one line whose graphs are read."""
NEAR = 3
"""Steps of optimizers by which a critic may be trained before or after its policy."""
ALIKE = 0.8
"""Correlation from which on two samples are of the same rows."""


class FormulasBook(Book):
    """One per process."""

    name = "formulas"

    def __init__(self, torch: Library, recorder: Recorder) -> None:
        self.torch = torch
        self.recorder = recorder
        self._divergences: list[Facts] = []
        self._schedules = Schedules(torch)
        self._scores: list[Facts] = []
        self._turned: dict[str, Facts] = {}
        """By line."""
        self._reads: dict[int, int] = {}
        """How many losses of a line of a backward pass were read."""
        self._read = 0
        self._waiting: list[tuple[Place | None, Place | None]] = []
        """Of this step: what is known only once it is seen which way its optimizer goes."""
        self._policies: list[tuple[int, Place | None, Weighed]] = []
        """Of the last steps, with the step and the line of the backward pass."""
        self._errors: list[tuple[int, Tensor]] = []
        self._judged: dict[str, Facts] = {}
        """Policies, by the line of the backward pass."""
        self._likelihoods: dict[str, Facts] = {}
        """Cross-entropies that are written out, by the line of the backward pass."""
        self._returns: dict[str, Facts] = {}
        """In which direction returns are summed, by the line of the backward pass."""
        self._trail: Trail | None = None
        self._lowers = False
        """The step under way lowers what it is given."""
        self._climbs = False
        """An optimizer raises what it is given, or the program moves the weights itself."""

    def look_begins(self) -> None:
        self._waiting = []

    def followed(self, calls: list[LossCall], trail: Trail) -> None:
        self._trail = trail
        for call in calls:
            if call.name == "kl_div" and len(self._divergences) < MOST_CALLS:
                seen = given_to_divergence(self.torch, call.args, call.kwargs)
                if seen is not None:
                    self._divergences.append({"place": call.place, **seen})
            elif call.name in LOSSES and len(self._scores) < MOST_CALLS:
                seen = given_to_loss_of_classes(self.torch, call, trail)
                if seen is not None:
                    self._scores.append(seen)

    def goes_back(self, loss: Tensor) -> None:
        trail, self._trail = self._trail, None
        place = caller()
        line = place[1] if place else -1
        reads = self._reads.get(line, 0)
        if loss.grad_fn is None or reads >= MOST_READ:
            return
        self._reads[line] = reads + 1
        self._read += 1
        found = addends(loss.grad_fn)
        for node in turned_divergences(found):
            known = trail.place_of(node) if trail is not None else None
            self._waiting.append((known, place))
        for policy in weighed(self.torch, found):
            self._weigh(policy, place, trail)
        self._likelihood(found, place, trail)
        summed = direction_of(found)
        if summed is not None:
            empty: Facts = {"backward": 0, "forward": 0, "at": {"place": place}}
            held = self._returns.setdefault(repr(place), empty)
            held[summed["direction"]] += 1
        step = self.recorder.step
        self._errors += [(step, error) for error in errors(self.torch, found)]

    def _likelihood(
        self,
        found: Addends,
        backward: Place | None,
        trail: Trail | None,
    ) -> None:
        """Enter a cross-entropy that the program writes itself."""
        seen = likelihood_of(self.torch, found)
        if seen is None:
            return
        node = seen.pop("node")
        known = trail.place_of(node) if trail is not None else None
        held = self._likelihoods.setdefault(
            repr(backward),
            {"place": None, "seen": 0, "raised": 0, "backward": {"place": backward}, **seen},
        )
        held["seen"] += 1
        held["raised"] += bool(seen["alone"]) and seen["sign"] > 0
        held["place"] = held["place"] or known

    def _weigh(
        self,
        policy: Weighed,
        backward: Place | None,
        trail: Trail | None,
    ) -> None:
        """Enter a policy gradient, which is judged once the errors of a critic are there too."""
        known = trail.place_of(policy.node) if trail is not None else None
        policy.node = None
        empty: Facts = {"place": None, "seen": 0, "lowered": 0, "raised": 0, "smaller": 0}
        held = self._judged.setdefault(repr(backward), {**empty, "backward": {"place": backward}})
        held["seen"] += 1
        held["smaller"] += policy.chosen == "min" and policy.sense > 0
        held["place"] = held["place"] or known
        self._policies.append((self.recorder.step, backward, policy))

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:  # noqa: ARG002
        groups = optimizer.param_groups if optimizer is not None else []
        self._lowers = bool(groups) and not any(group.get("maximize") for group in groups)
        self._climbs = self._climbs or not self._lowers

    def stepped(self) -> None:
        """With a closure the loss came only while it stepped."""
        self._schedules.read()
        waiting, self._waiting = self._waiting, []
        if not self._lowers:
            return
        self._compare()
        for known, backward in waiting:
            held = self._turned.setdefault(repr(backward), {"place": None, "seen": 0})
            held["seen"] += 1
            held["place"] = held["place"] or known
            held.setdefault("backward", {"place": backward})

    def _compare(self) -> None:
        """Hold the weights of policies against the errors of critics of the same rows."""
        now = self.recorder.step
        left = []
        for step, backward, policy in self._policies:
            judged = [likeness(self.torch, policy.weights, error) for _, error in self._errors]
            alike = max((one for one in judged if one is not None), key=abs, default=0.0)
            if abs(alike) >= ALIKE:
                way = "lowered" if alike * policy.sense > 0 else "raised"
                self._judged[repr(backward)][way] += 1
            elif step > now - NEAR:
                left.append((step, backward, policy))
        self._policies = left
        self._errors = [one for one in self._errors if one[0] > now - NEAR]

    def facts(self) -> Facts | None:
        if not self._read:
            return None
        return {
            "read": self._read,
            "divergences": self._divergences,
            "scores": self._scores,
            "turned": list(self._turned.values())[:MOST_LINES],
            "policies": list(self._judged.values())[:MOST_LINES],
            "likelihoods": [_written_out(one) for one in self._likelihoods.values()][:MOST_LINES],
            "returns": list(self._returns.values())[:MOST_LINES],
            "climbs": self._climbs,
            "schedules": self._schedules.read(),
        }


def _written_out(held: Facts) -> Facts:
    names = ("place", "backward", "seen", "raised", "axis", "rank", "target_sums")
    return {name: held[name] for name in names}
