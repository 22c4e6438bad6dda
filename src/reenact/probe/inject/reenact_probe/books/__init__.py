"""The books of a training, kept while it runs: what came in, what was spent, what is left of it.

A book notes what happens, whatever the text of the program says. It looks only while the observer of torch
looks (`TorchObserver.window`), next to a few counts that cost nothing. It never draws a random number, never
moves, keeps or changes a tensor of the program. An error in a book closes that book alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reenact_probe.types import (
    Args,
    Facts,
    Kwargs,
    Module,
    Optimizer,
    Place,
    Tensor,
)

if TYPE_CHECKING:
    from reenact_probe.torch.capture import LossCall
    from reenact_probe.torch.trail import Trail


class Book:
    """What every book may be notified of; each takes what it needs. Notified only while somebody looks, where
    nothing else is stated.
    """

    name = ""
    """Its key in the file."""

    def look_begins(self) -> None:
        """A step that is looked at begins: the one before it has just ended."""

    def model_called(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        """A model passed forward, in training or, a few passes each time, in evaluation."""

    def layer_called(self, module: Module, kwargs: Kwargs) -> None:
        """A layer ran, within a pass of a model that is notified of when it ends."""

    def batch_given(self, loader: Any, batch: Any) -> None:
        """A loader gave a batch. Always notified: `loader` is a `torch.loaders.Loader`, or none."""

    def followed(self, calls: list[LossCall], trail: Trail) -> None:
        """A loss is about to go backward: the calls of losses it may be made of, and the lines of its
        nodes, where the pass was followed. Notified before `goes_back`.
        """

    def goes_back(self, loss: Tensor) -> None:
        """A loss is about to go backward, by its own number: what a scaler made of it is undone."""

    def compared(
        self,
        prediction: Tensor,
        target: Tensor,
        place: Place | None,
    ) -> None:
        """What that loss compares, where it is known, and the line that does."""

    def came(self) -> None:
        """The gradients of that loss have come."""

    def cleared(self, optimizer: Optimizer | None) -> None:
        """`zero_grad` is about to be called: of an optimizer, or of a module. Always notified."""

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:
        """Weights are about to move; without an optimizer the program may move them by hand."""

    def stepped(self) -> None:
        """Weights have moved."""

    def settled(self) -> None:
        """The look that ended has waited for the device: what was begun to be brought over is there.
        Always notified.
        """

    def ends(self) -> None:
        """The process ends: `facts` is asked a last time."""

    def evaluation_begins(self) -> bool:
        """An evaluation begins, the first between two steps: whether all its passes are wanted,
        each of which will be reported by `judged`. Always notified.
        """
        return False

    def judged(
        self,
        module: Module,  # noqa: ARG002
        source: Any,  # noqa: ARG002
        given: Tensor | None,  # noqa: ARG002
        output: Any,  # noqa: ARG002
        labels: Tensor | None,  # noqa: ARG002
    ) -> bool:
        """A pass of an evaluation all of whose passes are wanted; gives whether more are.

        `source` is the name of its loader and the round it is in.
        """
        return False

    def judged_by_loss(self, prediction: Tensor, target: Tensor) -> None:
        """A loss compares these in such an evaluation."""

    def answered(
        self,
        answers: Tensor,
        labels: Tensor,
        made_of: list[Tensor],
    ) -> None:
        """Answers were asked whether they are these labels, in such an evaluation; they may be
        made of the others.
        """

    def facts(self) -> Facts | None:
        """What there is to write so far, as JSON; none for nothing. A key `place` holds a place."""
        return None
