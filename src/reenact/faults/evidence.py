"""Evidence: everything a detector may read about one program, with the questions that rules ask of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NotRequired

from typing_extensions import TypedDict

from reenact.accounts import Account, accounts_of
from reenact.probe.crash import Crash
from reenact.probe.outcome import CUT_OFF, Outcome
from reenact.probe.trace import Event, Experiments, Trace
from reenact.probe.weight_copies import copies_in
from reenact.program.graph import (
    LossFacts,
    ModelGraph,
    OptimizerFacts,
    TaskType,
    TensorFacts,
)
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.label_facts import compares_others, without_skipped
from reenact.program.layer_view import LayerView, views
from reenact.program.program import CODE, Program
from reenact.program.static_graph import StaticGraph
from reenact.program.syntax.index import FileIndex, index_of
from reenact.program.training.loss_families import (
    LossFamily,
    Wanted,
    loss_family,
    loss_word,
    wanted_output,
)
from reenact.program.training.step_sizes import finds_its_step
from reenact.program.training.written import written_at
from reenact.types import Place

if TYPE_CHECKING:
    from reenact.probe.opened import Opened

OF_OPTIMIZER = {
    Kind.LEARNING_RATE: ("lr", "learning_rate"),
    Kind.WEIGHT_DECAY: ("weight_decay", "wd"),
    Kind.MOMENTUM: ("momentum",),
}
"""Settings by the name that PyTorch has for them, and by other usual ones."""
NOT_STORED = {"stored": False}
"""Parts that a journal does not keep: they are large, and read again from where they are."""
_BEYOND = re.compile(r"(?:divide by zero|invalid value|overflow) encountered in")
_ENVIRONMENTS = ("gym", "gymnasium", "pettingzoo", "envpool", "dm_control", "minigrid")


class Stored(TypedDict):
    """What a journal keeps."""

    outcome: Outcome | None
    experiments: Experiments
    stand_in_data: NotRequired[tuple[str, ...]]
    """Earlier versions did not know of it."""


@dataclass(frozen=True)
class Evidence:
    """What is known. Every part may be missing; a rule says which parts it needs."""

    program: Program | None = field(default=None, metadata=NOT_STORED)
    static: StaticGraph | None = field(default=None, metadata=NOT_STORED)
    trace: Trace | None = field(default=None, metadata=NOT_STORED)
    outcome: Outcome | None = None
    """How the watched run ended."""
    experiments: Experiments = field(default_factory=Experiments)
    opened: Opened | None = field(default=None, metadata=NOT_STORED)
    """The files that the watched run opened; none where nobody watched."""
    stand_in_data: tuple[str, ...] = ()
    """Data sets that the watched run got made-up data for."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
        """How a journal gives it back."""
        from pydantic_core import core_schema

        kept = handler.generate_schema(Stored)
        rebuilt = core_schema.no_info_after_validator_function(
            lambda parts: cls(**parts),
            kept,
        )
        return core_schema.union_schema([core_schema.is_instance_schema(cls), rebuilt])

    @property
    def files(self) -> tuple[FileIndex, ...]:
        """Every file of the program that can be read."""
        files = self.program.files if self.program is not None else ()
        read = (index_of(file) for file in files if file.language in CODE)
        return tuple(index for index in read if not isinstance(index, str))

    @property
    def graph(self) -> ModelGraph | None:
        """The live model."""
        if self.trace is not None:
            return self.trace.graph
        return None

    @property
    def framework(self) -> str:
        """`keras` or `torch`: that of the live model, else of the text; empty where neither tells."""
        if self.graph is not None:
            return self.graph.framework
        written = self.static.framework.value if self.static is not None else "unknown"
        if "keras" in written:
            return "keras"
        return "" if written == "unknown" else "torch"

    @property
    def step_count(self) -> int:
        """Training steps of the watched run."""
        if self.trace is not None:
            return self.trace.step_count
        return 0

    @property
    def watched(self) -> Trace:
        """The trace, for a rule that needs one."""
        assert self.trace is not None
        return self.trace

    def happened(self, kind: str) -> tuple[Event, ...]:
        """Events of this kind in the watched run; nothing where nobody watched."""
        if self.trace is not None:
            return self.trace.happened(kind)
        return ()

    @cached_property
    def accounts(self) -> tuple[Account, ...]:
        """What the books of the watched run come to."""
        return accounts_of(self.trace, self.experiments)

    @property
    def crash(self) -> Crash | None:
        """The exception that ended the watched run."""
        if self.outcome is not None:
            return self.outcome.crash
        return None

    @cached_property
    def layers(self) -> tuple[LayerView, ...]:
        """All layers in order."""
        cut = self.crash is not None and not self.step_count
        return views(self.static, self.graph, cut=cut)

    @property
    def weighted(self) -> tuple[LayerView, ...]:
        """Layers with weights to learn: dense, convolution, recurrent, embedding."""
        return tuple(layer for layer in self.layers if layer.weighted)

    @property
    def output(self) -> LayerView | None:
        """The last layer with weights; none where several models learn in turns, as in a GAN, or
        one ends in several: nobody knows then whose output a loss is given.
        """
        if self.optimizers > 1 or self.ends_in_several:
            return None
        for layer in reversed(self.layers):
            if layer.role == "output":
                return layer
        return None

    @property
    def several_outputs(self) -> bool:
        """Whether a model has several outputs: its loss is then a sum that no single label
        explains. One that was seen to give a single tensor has one, whether two towers of layers
        end in it or not.
        """
        seen = self.graph.outputs if self.graph is not None else None
        return seen != 1 and self.ends_in_several

    @property
    def ends_in_several(self) -> bool:
        """Whether the text of a model has several layers whose output no other layer takes."""
        layers = self.static.layers if self.static is not None else ()
        owners = [layer.model for layer in layers if layer.role == "output"]
        return len(owners) > len(set(owners))

    @property
    def output_activation(self) -> LayerView | None:
        """The layer or function that bends the model's output, when it is not the output layer
        itself.
        """
        output = self.output
        if output is None or output.own_activation:
            return None
        behind = self.layers[self.layers.index(output) + 1 :]
        for layer in behind:
            if layer.own_activation:
                return layer
        return None

    @property
    def task(self) -> TaskType:
        if self.graph is not None:
            return self.graph.task
        return TaskType.UNKNOWN

    @property
    def loss(self) -> LossFacts | None:
        return self.graph.loss if self.graph is not None else None

    @cached_property
    def loss_name(self) -> str:
        """Name of the loss in lower case with underscores; from the text when nothing has run."""
        if self.loss is not None:
            return self.loss.name
        param = self.hyperparameter(Kind.LOSS)
        if param is not None and param.in_force is not None:
            return loss_word(str(param.in_force))
        return ""

    @property
    def loss_family(self) -> LossFamily | None:
        """What the loss compares; none when there is no loss to be seen."""
        return loss_family(self.loss_name)

    @property
    def wanted_output(self) -> Wanted:
        """What the loss wants of the output."""
        return wanted_output(
            self.loss_name, self.loss.from_logits if self.loss is not None else None
        )

    @property
    def last_activation(self) -> str | None:
        """What bends the model's output, in our word; none when nothing does. The tensor that the
        loss is given decides where it is known: a softmax may only choose actions.
        """
        if self.loss is not None and self.loss.bend:
            if self.loss.bend != "none":
                return self.loss.bend
            return None
        if self.output is not None:
            return self.output.activation
        return None

    @property
    def optimizer(self) -> OptimizerFacts | None:
        if self.graph is not None:
            return self.graph.optimizer
        return None

    @property
    def learning_rate(self) -> float | None:
        """The largest one in force: a warm-up begins at 0, a schedule ends there."""
        rates = self.trace.steps["learning_rate"] if self.trace is not None else ()
        if known := [float(rate) for rate in rates if rate == rate]:
            return max(known)
        if self.optimizer is not None and self.optimizer.learning_rate is not None:
            return self.optimizer.learning_rate
        param = self.hyperparameter(Kind.LEARNING_RATE)
        value = param.in_force if param is not None else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        return None

    @cached_property
    def optimizers(self) -> int:
        """How many optimizers took steps."""
        steps = (
            self.trace.steps["optimizer"]
            if self.trace is not None and len(self.trace.steps)
            else ()
        )
        return len({int(number) for number in steps if number == number})

    @property
    def step_rate(self) -> float | None:
        """The largest rate in force that is the size of a step; none where the optimizer finds
        it itself.
        """
        named = self.happened("optimizer")
        free = {one.facts["number"] for one in named if finds_its_step(str(one.facts["type"]))}
        if not free:
            written = self.hyperparameter(Kind.OPTIMIZER)
            name = (
                self.optimizer.name
                if self.optimizer is not None
                else written and str(written.in_force)
            )
            if finds_its_step(name or ""):
                return None
            return self.learning_rate
        steps = self.watched.steps
        both = zip(steps["optimizer"], steps["learning_rate"], strict=True)
        return max(
            (float(rate) for number, rate in both if number not in free and rate > 0),
            default=None,
        )

    @property
    def clips_gradients(self) -> bool:
        """Whether gradients are clipped: then a rate far above the usual makes steps of a usual
        size.
        """
        param = self.hyperparameter(Kind.GRADIENT_CLIP)
        return param is not None and not param.absent

    @cached_property
    def copies(self) -> frozenset[str]:
        """Weights of a target network or an average: no optimizer has them, and they have name and
        shape of weights that one has; the shape alone where those learn and nobody saw their names.
        """
        if self.trace is not None:
            return copies_in(self.trace)
        return frozenset()

    @property
    def was_cut_off(self) -> bool:
        """Whether the program was ended before its training came to its end."""
        return self.outcome is not None and self.outcome.kind in CUT_OFF

    @property
    def compares(self) -> bool:
        """Whether the loss compares outputs with labels that stay. One that does not (a policy
        gradient), or that compares with the answers of a copy of the model, may grow while the
        model learns. So may one of a program that acts: what it learns from changes with what it
        does.
        """
        known = self.labels is not None or self.loss_family not in (
            None,
            LossFamily.OTHER,
        )
        return known and not self.copies and not self.acts

    @property
    def non_finite_at(self) -> Place | None:
        """The program's line that first leaves the finite numbers: seen in torch, or warned of
        by numpy.
        """
        warned = self.happened("warning")
        numpy = [one.place for one in warned if _BEYOND.match(str(one.facts.get("message", "")))]
        return next(filter(None, numpy), None) or self.experiments.non_finite_at

    @cached_property
    def acts(self) -> bool:
        """Whether the program learns from an environment that it acts in."""
        return any(
            binding.dotted.partition(".")[0] in _ENVIRONMENTS and not binding.level
            for index in self.files
            for binding in index.imports
        )

    def data(self, role: str, split: str = "train") -> TensorFacts | None:
        """Inputs or labels of a split: the tensor of which the most rows were seen."""
        known = self.trace.data if self.trace is not None else ()
        found = [facts for facts in known if (facts.role, facts.split) == (role, split)]
        return max(found, key=lambda facts: facts.rows_seen, default=None)

    @property
    def inputs(self) -> TensorFacts | None:
        return self.data("input")

    @cached_property
    def labels(self) -> TensorFacts | None:
        """Labels of the training, without those that the loss skips."""
        labels = self.data("label")
        if labels is None or compares_others(labels, self.loss):
            return None
        return without_skipped(labels, self.loss)

    @property
    def compares_wider(self) -> bool:
        """Whether the loss is given several numbers a row where the labels are one: those of
        another loss, or their one-hot form. Where labels lie then says nothing of the output.
        """
        compared = self.loss.compared if self.loss is not None else None
        labels = self.labels
        if compared is None or labels is None or compared[1][1:] == (1,):
            return False
        return len(compared[1]) > len(labels.shape)

    @property
    def label_spread(self) -> float | None:
        """Standard deviation of the labels, where they are quantities."""
        if self.labels is not None and self.task is TaskType.REGRESSION:
            return self.labels.std
        return None

    @property
    def majority(self) -> float | None:
        """Accuracy of always naming the most frequent class, where labels are classes."""
        counts = self.labels.class_counts if self.labels is not None else None
        classes = self.task in (TaskType.BINARY, TaskType.MULTI_CLASS)
        if classes and counts and sum(counts):
            return max(counts) / sum(counts)
        return None

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        if self.static is not None:
            return self.static.hyperparameters
        return ()

    def hyperparameter(
        self,
        kind: Kind,
        layer: LayerView | None = None,
    ) -> Hyperparameter | None:
        """The hyperparameter of a kind: of a layer, or of the training; the first when there
        are several.
        """
        return next(self.hyperparameters_of(kind, layer), None)

    def hyperparameters_of(
        self, kind: Kind, layer: LayerView | None = None
    ) -> Iterator[Hyperparameter]:
        """Every hyperparameter of a kind that belongs to a layer, or to the training when none
        is given.
        """
        own = (param for param in self.hyperparameters if param.kind is kind)
        return (param for param in own if layer is None or _belongs(param, layer))

    def place_of(
        self,
        kind: Kind,
        layer: LayerView | None = None,
    ) -> Place | None:
        """Where a setting stands in the source, or the layer, or the call that would take it."""
        param = self.hyperparameter(kind, layer)
        ran = self.loss if kind is Kind.LOSS else None
        value = param.in_force if param is not None else None
        named = (
            loss_family(loss_word(value)) if isinstance(value, str) and ran is not None else None
        )
        # A loss in the text may not be the one that ran, as where a table of losses is written
        # down.
        fits = (
            ran is None or not ran.place or named in (None, LossFamily.OTHER, loss_family(ran.name))
        )
        if param is not None and fits:
            return param.place
        if layer is not None:
            return layer.place
        names = OF_OPTIMIZER.get(kind, ("",))
        made = self.optimizer
        place = None
        if made is not None and self.program is not None:
            place = written_at(
                self.program,
                names,
                made.settings.get(names[0]),
            )
        facts = {
            Kind.LOSS: self.loss,
            Kind.OPTIMIZER: made,
            Kind.LEARNING_RATE: made,
        }.get(kind)
        return place or (facts.place if facts is not None else None)


def _belongs(param: Hyperparameter, layer: LayerView) -> bool:
    own = layer.place
    if param.id.layer == layer.name or own is None:
        return param.id.layer == layer.name
    begin = (own.line, own.column)
    end = (
        own.end_line or own.line,
        own.end_column or 10**6,
    )
    places = [place for place in (param.place, *param.uses) if place.file == own.file]
    return any(begin <= (place.line, place.column) < end for place in places)
