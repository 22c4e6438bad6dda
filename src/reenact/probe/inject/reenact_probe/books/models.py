"""The book of models: in which mode a pass ran whose loss was stepped, in which one models are judged, and
whether the weights that are judged or restored are the ones that were trained.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from reenact_probe.books import Book
from reenact_probe.books.passes import Passes
from reenact_probe.books.shelf import Shelf, numbers_of
from reenact_probe.guard import before, guarded
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.facts import inner
from reenact_probe.torch.samples import first_tensor, plain, take
from reenact_probe.torch.transfer import bring_over
from reenact_probe.types import Args, Facts, Kwargs, Library, Module, Optimizer, Tensor

MOST_ROWS = 600
MOST_RESTORED = 20
MOST_TENSORS = 16
"""Tensors of a restored dictionary whose storage is compared."""
DROPS = ("Dropout", "BaseDropout")
"""Layers of Keras that have a rate of what they drop."""
ASKED = 32
"""Numbers of an input by which it is known again."""


@dataclass
class Modes:
    """The layers of a pass that behave differently in training, by what they did."""

    drops: int = 0
    keeps: int = 0
    """Dropout that was off."""
    follows: int = 0
    """Batch norm that used its batch."""
    stays: int = 0
    """Batch norm that used its running statistics."""

    def facts(self) -> Facts:
        return dict(vars(self))


@dataclass(eq=False)
class Pass:
    """A forward pass with gradients, until it is known whether its loss is stepped."""

    root: int
    modes: Modes
    number: int
    went_back: bool = False


class ModelsBook(Book):
    """Passes that were stepped, passes that judged, weights that were restored."""

    name = "models"

    def __init__(
        self,
        torch: Library,
        recorder: Recorder,
        shelf: Shelf,
        passes: Passes,
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.shelf = shelf
        self.graphs = passes
        self._modes = Modes()
        self._passes: list[Pass] = []
        """Passes with gradients since the last step."""
        self._moving: set[int] = set()
        """Identities of the weights that the step under way moves."""
        self._stepped: list[Facts] = []
        self._judged: list[Facts] = []
        self._asked: list[Any] = []
        """What models were asked without gradients, where it is not yet compared."""
        self._last: dict[int, Any] = {}
        """By model: what it was asked last of that."""
        self._restored: list[Facts] = []
        self._unused = 0
        """Passes with gradients that never went backward."""
        self._windows = 0
        self._norms: dict[int, bool] = {}
        before(torch.nn.Module, "load_state_dict", self._restores)

    @guarded("restore")
    def _restores(
        self,
        module: Module,
        state_dict: Any = None,
        *_: Any,
        **__: Any,
    ) -> None:
        """A dictionary of the model's own tensors restores nothing."""
        if len(self._restored) >= MOST_RESTORED or not isinstance(state_dict, dict):
            return
        own = dict(module.named_parameters())
        pairs = [(own[name], state_dict[name]) for name in own if name in state_dict]
        pairs = [(one, other) for one, other in pairs[:MOST_TENSORS] if plain(self.torch, other)]
        if pairs and all(one.data_ptr() == other.data_ptr() != 0 for one, other in pairs):
            self._restored.append(
                {
                    "model": type(module).__name__,
                    "step": self.recorder.step,
                    "place": caller(),
                }
            )

    def layer_called(self, module: Module, kwargs: Kwargs) -> None:
        nn = self.torch.nn
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            if module.track_running_stats and module.momentum is not None:
                self._count("follows" if module.training else "stays")
        elif isinstance(module, nn.modules.dropout._DropoutNd):
            if module.p > 0:
                self._count("drops" if module.training else "keeps")
        elif isinstance(module, nn.RNNBase):
            if module.dropout > 0 and module.num_layers > 1:
                self._count("drops" if module.training else "keeps")
        elif hasattr(module, "_call_context_args"):
            self._of_keras(module, kwargs)

    def _of_keras(self, module: Module, kwargs: Kwargs) -> None:
        kinds = {kind.__name__ for kind in type(module).__mro__}
        trains = _keras_trains(kwargs)
        if "BatchNormalization" in kinds and module.trainable:
            self._count("follows" if trains else "stays")
        elif not kinds.isdisjoint(DROPS) and getattr(module, "rate", 0) > 0:
            self._count("drops" if trains else "keeps")

    def _count(self, what: str) -> None:
        setattr(self._modes, what, getattr(self._modes, what) + 1)

    def look_begins(self) -> None:
        self._passes = []
        self.graphs.clear()

    def model_called(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        modes, self._modes = self._modes, Modes()
        root = self.shelf.root_of(inner(module))
        if root is None:
            return
        number = self.graphs.mark(output)
        if number is not None:
            self._passes.append(Pass(root.number, modes, number))
        elif self.recorder.step:
            self._judges(root.number, modes, (args, kwargs))

    def _judges(self, root: int, modes: Modes, given: Any) -> None:
        if len(self._judged) >= MOST_ROWS:
            return
        value = first_tensor(self.torch, given)
        usable = value is not None and plain(self.torch, value) and value.numel()
        self._asked.append(take(value, ASKED) if usable else None)
        self.shelf.sketch(self.shelf.roots[root].numbers)
        self._judged.append(
            {
                "root": root,
                "step": self.recorder.step,
                "within": any(one.went_back is False for one in self._passes),
                "again": False,
                "modes": modes.facts(),
                "place": caller(),
            }
        )

    def goes_back(self, loss: Tensor) -> None:
        behind = self.graphs.behind(loss)
        for one in self._passes:
            one.went_back = one.went_back or one.number in behind

    def steps(self, optimizer: Optimizer | None, parameters: list[Tensor]) -> None:  # noqa: ARG002
        self._windows += 1
        self._moving = {id(tensor) for tensor in parameters}

    def _note_stepped(self, root: int, module: Module) -> None:
        went = [one.modes for one in self._passes if one.root == root and one.went_back]
        total = Modes()
        for modes in went:
            for name, count in vars(modes).items():
                setattr(total, name, getattr(total, name) + count)
        if len(self._stepped) < MOST_ROWS:
            row = {"root": root, "step": self.recorder.step, "modes": total.facts()}
            self._stepped.append(row)
        if root not in self._norms:
            self._norms[root] = self._fresh_norms(module)

    def _fresh_norms(self, module: Module) -> bool:
        """Whether the running statistics of every batch norm are those it was made with."""
        norms = [
            part
            for part in module.modules()
            if isinstance(part, self.torch.nn.modules.batchnorm._BatchNorm)
            and part.running_mean is not None
        ][:8]
        return bool(norms) and not any(bool(norm.running_mean.any()) for norm in norms)

    def stepped(self) -> None:
        # Where an optimizer takes a closure, passes come while it steps.
        for number in dict.fromkeys(one.root for one in self._passes if one.went_back):
            module = self.shelf.roots[number].ref()
            if module is not None and any(id(one) in self._moving for one in module.parameters()):
                self._note_stepped(number, module)
        self._unused += sum(not one.went_back for one in self._passes)
        self._passes = []

    def _compare(self) -> None:
        """See which passes were asked what their model had been asked just before."""
        asked, self._asked = bring_over(self.shelf.transfer, self._asked), []
        for row, given in zip(self._judged[len(self._judged) - len(asked) :], asked):
            row["again"] = _alike(given, self._last.get(row["root"]))
            self._last[row["root"]] = given

    def facts(self) -> Facts | None:
        if not self.shelf.roots:
            return None
        self._compare()
        self.shelf.bring_over()
        return {
            "models": [self._model(root.number) for root in self.shelf.roots],
            "steps": self._windows,
            "stepped": self._stepped,
            "judged": self._judged,
            "unused": self._unused,
            "restored": self._restored,
            "averages": self._averages(),
        }

    def _model(self, number: int) -> Facts:
        root = self.shelf.roots[number]
        known = [self.shelf.all[one] for one in root.numbers]
        return {
            "name": root.name,
            "owned": sum(bool(self.shelf.owners_of(one)) for one in known),
            "tensors": len(known),
            "moved": sum(one.moved for one in known),
            "fresh_norms": self._norms.get(number, False),
        }

    def _averages(self) -> list[Facts]:
        """Models that no optimizer moves, by the learning one whose weights theirs are made of."""
        learn = [one for one in self.shelf.roots if self._is_owned(one.numbers)]
        others = [one for one in self.shelf.roots if not self._is_owned(one.numbers)]
        found = []
        for other in others:
            for model in learn:
                mixed = self._mixed(other.numbers, model.numbers)
                if mixed is not None:
                    found.append({"root": other.number, "of": model.number, **mixed})
        return found

    def _is_owned(self, numbers: list[int]) -> bool:
        return any(self.shelf.owners_of(self.shelf.all[one]) for one in numbers)

    def _mixed(self, average: list[int], learned: list[int]) -> Facts | None:
        """How much of a model is what another one began with: 1 where it is all of it."""
        by_end = {_end(self.shelf.all[one]): self.shelf.all[one] for one in learned}
        pairs = [(self.shelf.all[one], by_end.get(_end(self.shelf.all[one]))) for one in average]
        matched = [(one, other) for one, other in pairs if other is not None]
        if not matched or len(matched) < 0.8 * len(average):
            return None
        along = 0.0
        across = 0.0
        length = 0.0
        size = 0.0
        for one, other in matched:
            held = numbers_of(one.last)
            first = numbers_of(other.first)
            last = numbers_of(other.last)
            along += sum((e - t) * (i - t) for e, t, i in zip(held, last, first))
            length += sum((i - t) ** 2 for t, i in zip(last, first))
            across += sum((e - t) ** 2 for e, t in zip(held, last))
            size += sum(t * t for t in last)
        if not length > 0 or not size > 0:
            return None
        old = along / length
        return {
            "old": old,
            "off": max(0.0, across - old * old * length) / length,
            "walked": (length / size) ** 0.5,
            "moved": any(one.moved for one, _ in matched),
        }


def _end(known: Any) -> tuple[Any, ...]:
    """By what a tensor of a copy is known: its path without what wrappers put in front, its shape."""
    return known.path.removeprefix("module."), tuple(known.shape)


def _alike(one: Any, other: Any) -> bool:
    if one is None or other is None or len(one) != len(other):
        return False
    return bool((one == other).all())


def _keras_trains(kwargs: Kwargs) -> bool:
    """Whether a layer of Keras that was just called was asked to behave as in training."""
    asked = kwargs.get("training")
    if asked is None:
        state = sys.modules.get("keras.src.backend.common.global_state")
        get = getattr(state, "get_global_attribute", None)
        context = get("current_call_ctx") if get is not None else None
        value = getattr(context, "get_value", None)
        asked = value("training") if value is not None else getattr(context, "training", None)
    return bool(asked)
