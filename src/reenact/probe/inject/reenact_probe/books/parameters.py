"""The book of parameters: of each tensor that could learn, whether the loss reaches it, who owns it, whether
it moves, and whether it is still the one that the model holds.
"""

from __future__ import annotations

from typing import Any

from reenact_probe.books import Book
from reenact_probe.books.passes import nodes_behind
from reenact_probe.books.shelf import BARE, Known, Shelf, numbers_of
from reenact_probe.recorder import Recorder
from reenact_probe.torch.facts import inner
from reenact_probe.torch.transfer import bring_over
from reenact_probe.types import Args, Facts, Kwargs, Library, Module, Optimizer, Tensor

EVERY_LOOK, THEN_EACH = 12, 5
"""The first looks are read in full, then one in so many."""
LEAF_LOOKS = 3
"""Looks at which the graph of the loss is followed to its ends."""
MOST_BARE = 64
MOST_NORMS = 40
MOST_PARTS, DEPTH = 100, 2
BY_HAND = 0
"""Who moves a tensor, where that is not an optimizer of torch."""


class ParametersBook(Book):
    """Counts and sketches of every tensor that could learn."""

    name = "parameters"

    def __init__(
        self,
        torch: Library,
        recorder: Recorder,
        shelf: Shelf,
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.shelf = shelf
        self.steps_seen = 0
        self._due = False
        self._came = False
        """Gradients have come since the look began."""
        self._at_step: list[Known] = []
        """What the step under way moves, where that is to be read."""
        self._given: set[int] = set()
        """Identities of what models were called with in this step."""
        self._norms: list[tuple[list[int], Any, bool]] = []
        self._shares: dict[int, float] = {}
        self._walks = 0
        self._order = 0
        self._reads = 0
        self._parted: list[Facts] = []
        self._looks_of: dict[int, int] = {}
        """Steps of each optimizer that were looked at: of two that take turns one may step at none of
        the looks that are read in full."""

    def look_begins(self) -> None:
        looks = self.shelf.looks = self.shelf.looks + 1
        self._due = _is_due(looks)
        self._came = False
        self._at_step = []
        self._given = set()

    def model_called(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,  # noqa: ARG002
    ) -> None:
        root = self.shelf.root_of(inner(module))
        if root is None:
            return
        known = root.numbers if root.parts else []
        if self._due and self.torch.is_grad_enabled():
            self.shelf.read(root)
        if known != root.numbers or not root.parts:
            root.parts = self._parts(inner(module))
        self._given.update(id(value) for value in (*args, *kwargs.values()))

    def _parts(self, module: Module) -> list[Facts]:
        """Where a model's parts were made, the outer ones first."""
        named = [(path, part) for path, part in module.named_modules() if path.count(".") < DEPTH]
        return [
            {"path": path, "place": self.recorder.made.place(part)}
            for path, part in named[:MOST_PARTS]
        ]

    def layer_called(self, module: Module, kwargs: Kwargs) -> None:  # noqa: ARG002
        learns = self.torch.is_grad_enabled()
        for tensor in module._parameters.values():
            known = self.shelf.get(tensor) if tensor is not None else None
            if known is not None:
                self._order += 1
                known.order = self._order if known.order < 0 else known.order
                known.asked += int(learns)
                known.asked_without += int(not learns)

    def goes_back(self, loss: Tensor) -> None:
        if self._walks < LEAF_LOOKS:
            self._walks += 1
            for node in nodes_behind(loss):
                tensor = getattr(node, "variable", None)
                if tensor is not None:
                    self._reached(tensor)

    def _reached(self, tensor: Tensor) -> None:
        """A loss reaches a tensor: one that no model holds, and that is not an input of one."""
        known = self.shelf.get(tensor)
        if known is None and id(tensor) not in self._given:
            bare = sum(one.root == BARE for one in self.shelf.all)
            if bare < MOST_BARE:
                self.shelf.meet(tensor, BARE, "")

    def came(self) -> None:
        self._came = True
        if self._due:
            self._reads += 1
            self._read([known for known in self.shelf.all if known.gone < 0], at_step=False)

    def _read(self, tensors: list[Known], at_step: bool) -> None:
        """Norms of the gradients of tensors, where they lie."""
        by_kind: dict[Any, list[tuple[int, Tensor]]] = {}
        for known in tensors:
            tensor = known.ref()
            grad = tensor.grad if tensor is not None and tensor.is_leaf else None
            if grad is None:
                continue
            if grad.layout is self.torch.strided and grad.is_floating_point():
                pair = (known.number, grad.detach())
                by_kind.setdefault((grad.device, grad.dtype), []).append(pair)
            else:
                # Rows of a sparse gradient are there because something looked them up.
                known.graded += 1
                known.spent += int(at_step)
        for pairs in by_kind.values():
            norms = self.torch._foreach_norm([grad for _, grad in pairs])
            stacked = self.torch.stack([norm.float() for norm in norms])
            self._norms.append(([number for number, _ in pairs], stacked, at_step))
        if len(self._norms) > MOST_NORMS:
            self._settle()

    def _settle(self) -> None:
        """Read the norms that were kept where they lie: who got gradients, and what share."""
        norms = bring_over(self.shelf.transfer, [stacked for _, stacked, _ in self._norms])
        for (numbers, _, at_step), stacked in zip(self._norms, norms):
            values = stacked.tolist()
            if at_step:
                for number, value in zip(numbers, values):
                    self.shelf.all[number].spent += int(value != 0)
            else:
                self._settle_income(numbers, values)
        self._norms = []

    def _settle_income(self, numbers: list[int], values: list[float]) -> None:
        finite = [value for value in values if value - value == 0]
        whole = sum(value * value for value in finite) ** 0.5
        for number, value in zip(numbers, values):
            self.shelf.all[number].graded += int(value != 0)
            if whole and value - value == 0:
                self._shares[number] = max(self._shares.get(number, 0.0), value / whole)

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:
        self.steps_seen += 1
        owner = id(optimizer) if optimizer is not None else BY_HAND
        self.shelf.moved(parameters, owner)
        known = [
            self.shelf.get(tensor) or self.shelf.meet(tensor, BARE, "") for tensor in parameters
        ]
        looks = self._looks_of[owner] = self._looks_of.get(owner, 0) + 1
        if _is_due(looks):
            self._at_step = [one for one in known if one is not None]
        if self._came:
            self._read_step()

    def _read_step(self) -> None:
        """Read the gradients that a step spends."""
        for one in self._at_step:
            one.stepped += 1
        self._read(self._at_step, at_step=True)
        self._at_step = []

    def stepped(self) -> None:
        # Where an optimizer takes a closure, gradients come while it steps.
        self._read_step()
        if self._due:
            self.shelf.sketch([known.number for known in self.shelf.all if known.gone < 0])
            for known in self.shelf.all:
                self.shelf.owners_of(known)
            if self.shelf.ties.made:
                self._parted = self._parted_now()

    def facts(self) -> Facts | None:
        if not self.shelf.all:
            return None
        self._settle()
        self.shelf.bring_over()
        owners = sorted({one for known in self.shelf.all for one in self.shelf.owners_of(known)})
        return {
            "looks": self.shelf.looks,
            "reads": self._reads,
            "steps": self.steps_seen,
            "models": [{"name": root.name, "parts": root.parts} for root in self.shelf.roots],
            "tensors": [self._tensor(known, owners) for known in self.shelf.all],
            "parted": self._parted,
        }

    def _tensor(self, known: Known, owners: list[int]) -> Facts:
        return {
            "path": known.path,
            "root": known.root,
            "shape": known.shape,
            "trainable": known.trainable,
            "is_parameter": known.is_parameter,
            "owners": sorted(owners.index(one) for one in self.shelf.owners_of(known)),
            "graded": known.graded,
            "spent": known.spent,
            "stepped": known.stepped,
            "share": self._shares.get(known.number, 0.0),
            "order": known.order,
            "asked": known.asked,
            "asked_without": known.asked_without,
            "moved": known.moved,
            "met": known.look,
            "gone": known.gone,
            "given": known.given,
            "spread": [value if value == value else 0.0 for value in numbers_of(known.spread)],
        }

    def _parted_now(self) -> list[Facts]:
        modules = {}
        for root in self.shelf.roots:
            module = root.ref()
            named = module.named_modules() if module is not None else ()
            modules.update({id(part): path or root.name for path, part in named})
        return [
            {
                "one": one,
                "other": other,
                "count": int(first.numel()),
                "place": place,
            }
            for one, other, first, _, place in self.shelf.ties.broken(modules)
        ]


def _is_due(looks: int) -> bool:
    return looks <= EVERY_LOOK or looks % THEN_EACH == 0
