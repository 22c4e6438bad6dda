"""What passes through the model: inputs, labels, predictions and the loss, in training and in
evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy

from reenact_probe.data import Data, Split
from reenact_probe.guard import guarded
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.rows import Again, Signal
from reenact_probe.torch import facts
from reenact_probe.torch.capture import LossCall
from reenact_probe.torch.loaders import Loader, Loaders
from reenact_probe.torch.model import Model
from reenact_probe.torch.samples import NOT_NUMPY, first_tensor, plain, right_classes
from reenact_probe.torch.window import Window
from reenact_probe.types import Args, Array, Facts, Kwargs, Library, Module, Tensor

Pair = tuple[Tensor, Tensor, bool]
"""Prediction, target, and whether classes lie along the last axis, as Keras has it."""
_LOOKS = 20
"""Batches whose inputs are read whole."""
_FRESH_LOOKS = 200
"""The same where a program draws new rows for each step: it may draw others later."""
_LABEL_LOOKS = 400
_VALUES = 1 << 19
_DRAWS = 5
"""Copies of one row in a batch that are there to be averaged over."""
A_FEW = 64
"""Rows of a batch that are looked at one by one."""


class BatchObserver:
    """Knows which tensors are inputs, which are labels, and what the model made of them."""

    def __init__(
        self,
        torch: Library,
        recorder: Recorder,
        data: Data,
        loaders: Loaders,
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.data = data
        self.loaders = loaders
        self.window: Window | None = None
        """Layers of an evaluation pass."""
        self.train_loader: Loader | None = None
        self._batch_size = 0
        self._steps_an_epoch = 0
        self.pair: Pair | None = None
        """What the loss of this step compares."""
        self._handed: Pair | None = None
        """The pair that was there when a loss went backward before."""
        self._input: Tensor | None = None
        self._looks = self._label_looks = 0
        self._fresh = True
        """Every batch so far brought new rows."""
        self.signal = Signal()
        self._again = Again()
        self._asked: tuple[int, Any, Tensor | None] = (0, None, None)
        """Step, place and inputs of the last pass in training mode that has no gradients."""

    def is_loss(self, module: Module, output: Any) -> bool:
        home = type(module).__module__
        if home.startswith("torch.nn.modules."):
            return home == "torch.nn.modules.loss"
        scalar = isinstance(output, self.torch.Tensor) and output.numel() == 1 and output.dim() == 0
        return scalar and not any(True for _ in module.parameters())

    @staticmethod
    def is_metric(module: Module) -> bool:
        return any(base.__module__.startswith("torchmetrics") for base in type(module).__mro__)

    def is_auxiliary(self, module: Module, output: Any) -> bool:
        """No pass through a model: a metric, a loss, a mere function that torch offers as a
        module.
        """
        library = type(module).__module__.startswith("torch.nn.modules.")
        mere = library and not module._modules and not module._parameters
        return mere or self.is_metric(module) or self.is_loss(module, output)

    def loss_called(
        self,
        args: Args,
        kwargs: Kwargs,
        output: Any,
        in_fit: bool,
    ) -> bool:
        """A module that is a loss was called; gives whether it is the loss of a training pass."""
        if not self.torch.is_grad_enabled():
            self._metric("val_loss", output, in_fit)
            return False
        self.pair = self._compared_in(args, kwargs) or self.pair
        return True

    def given_to_loss(self) -> Facts:
        """Shapes of output and target that the loss of this step was given, and what activates the
        output.
        """
        if self.pair is None:
            return {"compared": None, "bend": ""}
        shapes = [list(tensor.shape) for tensor in self.pair[:2]]
        return {
            "compared": shapes,
            "bend": facts.bend_of(self.pair[0]),
        }

    def _compared_in(self, args: Args, kwargs: Kwargs) -> Pair | None:
        tensors = [
            value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)
        ]
        if len(tensors) >= 2:
            return (tensors[0], tensors[1], False)
        return None

    def training_pass(self, args: Args, kwargs: Kwargs, in_fit: bool) -> None:
        if self._input is not None:
            return
        self._input = value = self._first_input(args, kwargs)
        if value is None or not value.dim():
            return
        if "training-pass" not in self.recorder.kinds:
            self.recorder.event("training-pass", place=caller())
        self._batch_size = value.shape[0]
        whole = value._base if self.loaders.current is None and not self._steps_an_epoch else None
        if whole is not None and whole.dim() == value.dim() and whole.shape[1:] == value.shape[1:]:
            # A batch that is a slice of a larger tensor says how many make an epoch.
            self._steps_an_epoch = -(-whole.shape[0] // max(1, value.shape[0]))
        split = self.data.split("train", self.recorder.step)
        loaded = self.loaders.current is not None
        looks = _LOOKS if loaded or not self._fresh else _FRESH_LOOKS
        if self._looks < looks and not self._known_whole(in_fit):
            self._looks += 1
            known = self._take(split, "input", value)
            if known is not None and not loaded and not self._steps_an_epoch:
                # Without slices, rows that all come back at once tell that an epoch is over.
                self._steps_an_epoch = self.recorder.step if known > 0.5 and self._fresh else 0
                self._fresh = self._fresh and known < 0.1

    def _known_whole(self, in_fit: bool) -> bool:
        """The data set behind the loader was read already: its batches add nothing.

        Keras's `fit` trains on data that was read whole: the loader it makes has another name."""
        loader = self.loaders.current
        if in_fit and self.torch.is_grad_enabled():
            name = "train"
        else:
            name = loader.name if loader is not None else ""
        whole = self.data.whole.get(name)
        return whole is not None and whole.input.rows > 0

    def _first_input(self, args: Args, kwargs: Kwargs) -> Tensor | None:
        """The first tensor; Keras may be called with numpy arrays."""
        value = first_tensor(self.torch, (args, kwargs))
        if (
            value is None
            and args
            and isinstance(args[0], numpy.ndarray)
            and args[0].dtype.kind in "fiub"
        ):
            value = self.torch.from_numpy(numpy.ascontiguousarray(args[0]))
        return value

    def evaluation_begins(self) -> None:
        self.window = Window(self.torch, self.recorder.schedule)

    def evaluation_pass(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
        known: Model,
        in_fit: bool,
    ) -> None:
        torch = self.torch
        step = self.recorder.step
        if not step:
            return
        model = facts.inner(module)
        training = bool(model.training) or kwargs.get("training") is True
        value = first_tensor(torch, (args, kwargs))
        place = caller() if training else None
        again = training and self._asked_again(
            place,
            self._first_input(args, kwargs),
        )
        seen = {
            "model": type(model).__name__,
            "learns": known.learns(model),
            "place": place,
        }
        self.recorder.event(
            "evaluation",
            training=training,
            again=again,
            **seen,
        )
        batch = self.loaders.batch
        loader = self.loaders.current
        if self.trains(loader) and batch is None:
            # Its batch went into a step: these rows come from elsewhere.
            loader = None
        split = self.data.split(
            loader.name if loader is not None else "evaluation",
            step,
        )
        labels = self.loaders.labels_in(self.loaders.batch_behind(value))
        if self.window is not None and value is not None:
            self._compare_again(
                loader.name if loader is not None else "",
                value,
                labels,
            )
        whole = loader is not None and self._known_whole(in_fit)
        if value is not None and split.input.rows < 4096 and not whole:
            self._take(split, "input", value)
        if labels is not None and split.label.rows < 65536:
            self._take(split, "label", labels)
        prediction = first_tensor(torch, output)
        if labels is not None and prediction is not None and _has_classes(prediction, labels):
            share = self._compare(
                prediction, labels.to(prediction.device), False, known.from_logits
            )
            self._metric("val_accuracy", share, in_fit)
        window, self.window = self.window, None
        if window is not None and window.outputs:
            window.fetch()
            self.recorder.tables["layers"].extend(window.layer_rows(step))

    def _asked_again(self, place: Any, value: Tensor | None) -> bool:
        """Whether one line asks about the same rows as just before, or about one row many times."""
        (step, line, old), self._asked = self._asked, (self.recorder.step, place, value)
        if value is None or not plain(self.torch, value) or value.dim() < 2:
            return False
        if (step, line) == self._asked[:2] and old is not None and self.torch.equal(value, old):
            return True
        return (
            value.is_floating_point()
            and int((value == value[:1]).flatten(1).all(1).sum()) >= _DRAWS
        )

    def _compare_again(
        self,
        source: str,
        value: Tensor,
        labels: Tensor | None,
    ) -> None:
        """Note where the rows that an evaluation begins with are those of an earlier one, and
        changed.
        """
        given = [value] if labels is None else [value, labels]
        if not all(plain(self.torch, tensor) and tensor.dim() for tensor in given):
            return
        rows, *rest = [_numpy(tensor[:A_FEW]) for tensor in given]
        # What is to be given back as it was before it was changed, by a denoiser, is changed on
        # purpose.
        if not rest or rest[0].dtype.kind != "f" or rows.shape != rest[0].shape:
            facts = self._again.compare(
                f"{source}{value.shape[1:]}", rows, rest[0] if rest else None
            )
            if facts is not None:
                self.recorder.event("evaluated-again", **facts)

    def loss_goes_back(
        self,
        tensor: Any,
        call: LossCall | None,
        known: bool,
    ) -> Facts | None:
        """Facts of the loss as far as they are news: from the functional call, else from its
        graph.
        """
        loss = None
        if call is not None:
            self.pair = self._compared_in(call.args, call.kwargs) or self.pair
            settings = {
                **facts.plain_values(call.kwargs),
                **facts.weights_given(call.kwargs),
            }
            loss = facts.loss_facts(call.name, settings, call.place)
            loss.update(called=call.place, **self.given_to_loss())
        read = None
        if (self.pair is None or not (known or loss)) and isinstance(tensor, self.torch.Tensor):
            read = facts.read_loss(tensor)
        if read is not None:
            by_hand = {
                "compared": read.compared,
                "called": caller() if read.compared else None,
            }
            loss = loss or {
                **facts.loss_facts(read.name, read.settings, None),
                **by_hand,
            }
            if self.pair is None and read.target is not None and read.prediction is not None:
                self.pair = (read.prediction, read.target, False)
        self._labels()
        if self.pair is not None and self._input is not None and self.pair[1].dim():
            # Inputs may have time first; the labels tell which size is the batch.
            rows = self.pair[1].shape[0]
            if self._batch_size != rows and self._input.dim() > 1 and self._input.shape[1] == rows:
                self._batch_size = rows
        return loss

    def compared_by(self, loss: Any) -> Pair | None:
        """What this loss compares: of the losses of several backward passes before a step each has
        its own.
        """
        if self.pair is not self._handed:
            self._handed = self.pair
            return self.pair
        read = facts.read_loss(loss) if isinstance(loss, self.torch.Tensor) else None
        if read is None or read.prediction is None or read.target is None:
            return None
        return read.prediction, read.target, False

    def _labels(self) -> None:
        """The labels of this batch: from the loss, else from the loader."""
        label = (
            self.pair[1] if self.pair is not None else self.loaders.labels_in(self.loaders.batch)
        )
        if self.pair is not None and plain(self.torch, self.pair[1]):
            self.loaders.labels_taken(self.pair[1])
        split = self.data.split("train", self.recorder.step)
        if label is not None and self._label_looks < _LABEL_LOOKS and split.label.rows < 100_000:
            self._label_looks += 1
            self._take(split, "label", label)
        given = self._input
        if label is None or given is None or self.signal.full or not label.dim():
            return
        if plain(self.torch, label) and plain(self.torch, given):
            self.signal.add(
                _numpy(given[:A_FEW]),
                _numpy(label[:A_FEW]),
            )

    @guarded("signal")
    def write_signal(self) -> None:
        """Note whether inputs say anything about their labels, once all rows were seen."""
        facts = self.signal.facts()
        if facts is not None:
            self.recorder.event("labels-explained", **facts)

    def accuracy(self, window: Window, from_logits: bool) -> int | None:
        """Slot of the share of right predictions in this batch, or none where that means
        nothing.
        """
        share = self._compare(*self.pair, from_logits) if self.pair is not None else None
        if share is not None:
            return window.add_raw(share)
        return None

    def label_losses(self, window: Window, loss: Facts) -> int | None:
        """Slot of two numbers: the plain mean loss of this batch, and the same with labels of
        other rows.
        """
        if self.pair is None or self.pair[2]:
            return None
        prediction, target = (tensor.detach() for tensor in self.pair[:2])
        if (
            not (plain(self.torch, prediction) and plain(self.torch, target))
            or not prediction.dim()
        ):
            return None
        name = loss.get("name")
        ignored = (loss.get("settings") or {}).get(
            "ignore_index",
            -100,
        )
        rows = len(target) if target.dim() else 0
        if rows < 2 or len(prediction) != rows or prediction.numel() > _VALUES:
            return None
        pairs = [(prediction.float(), labels) for labels in (target, target.roll(rows // 2, 0))]
        both = [plain_loss(name, *pair, ignored) for pair in pairs]
        if None not in both:
            return window.add_raw(self.torch.stack(both))
        return None

    def _compare(
        self,
        prediction: Tensor,
        target: Tensor,
        last: bool,
        from_logits: bool,
    ) -> Tensor | None:
        if (
            not (plain(self.torch, prediction) and plain(self.torch, target))
            or not prediction.dim()
        ):
            return None
        prediction = prediction.detach()
        target = target.detach()
        target = target.byte() if target.dtype is self.torch.bool else target
        if target.dim() == prediction.dim() and target.shape[-1] == 1 and prediction.shape[-1] > 1:
            target = target.squeeze(-1)
        if prediction.dim() == target.dim() + 1 and prediction.shape[-1] == 1:
            prediction = prediction.squeeze(-1)
        labels = self.data.split("train", self.recorder.step).label
        if not target.is_floating_point() and prediction.dim() == target.dim() + 1:
            right = right_classes(prediction, target, last)
            if right is not None:
                return right.float().mean()
            return None
        if prediction.shape != target.shape or not labels.integral or not labels.rows:
            return None
        if labels.one_hot and prediction.dim() == 2:
            return (prediction.argmax(1) == target.argmax(1)).float().mean()
        if set(labels.counts) <= {0, 1}:
            return ((prediction > (0.0 if from_logits else 0.5)) == (target > 0.5)).float().mean()
        return None

    def trains(self, loader: Loader | None) -> bool:
        """Whether steps draw from this loader, or from those whose place it took."""
        held = self.train_loader
        return loader is held or (
            loader is not None and held is not None and loader.origin == held.origin
        )

    def epoch(self) -> int | None:
        """Epochs begun less one: by the loader, else by the length of an epoch; none without a
        sign.
        """
        loader = self.loaders.current
        if loader is not None:
            self.train_loader, self.data.train_name = loader, loader.name
            return loader.rounds - 1
        if self._steps_an_epoch:
            return self.recorder.step // self._steps_an_epoch
        return None

    def size(self) -> int:
        """Rows of the batch of this step."""
        if self.loaders.current is None:
            return self._batch_size
        return self.loaders.batch_size

    def step_ended(self) -> None:
        self.pair = self._input = None

    def _take(self, split: Split, role: str, tensor: Tensor) -> float | None:
        """Read a batch into the facts, as many rows as fit; gives the share of input rows known
        before.
        """
        if not plain(self.torch, tensor) or not tensor.dim() or not tensor.numel():
            return None
        tensor = tensor.detach()
        fitting = max(1, _VALUES // max(1, tensor.numel() // tensor.shape[0]))
        array = _numpy(tensor[:fitting])
        split.update(role, array, tensor.dtype)
        return split.add_keys(array) if role == "input" else None

    def dataset(self, loader: Any, known: Loader) -> None:
        """Read tensors that lie in memory. Nothing is drawn from other data sets: drawing may
        be random.
        """
        data = self.torch.utils.data
        dataset, indices = loader.dataset, None
        if type(dataset) is data.Subset:
            dataset, indices = dataset.dataset, dataset.indices
        split = Split(self.recorder.step)
        if type(dataset) is data.TensorDataset:
            # Of three tensors no one knows yet which are the labels.
            tensors = dataset.tensors if len(dataset.tensors) == 2 else dataset.tensors[:1]
            usable = [t for t in tensors if plain(self.torch, t) and t.device.type == "cpu"]
            for role, tensor in zip(("input", "label"), usable):
                rows = numpy.arange(len(tensor)) if indices is None else numpy.asarray(indices)
                whole = _numpy(tensor)
                split.read(
                    role,
                    lambda chosen: whole[rows[chosen]],  # noqa: B023
                    len(rows),
                    tensor.dtype,
                )
        elif indices is not None:
            split.keys = {hash((id(dataset), int(index))) for index in indices}
        if split.keys:
            self.data.whole[known.name] = split

    def _metric(self, name: str, value: Any, in_fit: bool) -> None:
        if not in_fit and isinstance(value, self.torch.Tensor) and value.numel() == 1:
            self.recorder.metric(name, value.detach(), "probe")


def plain_loss(
    name: str | None,
    prediction: Tensor,
    target: Tensor,
    ignored: Any,
) -> Tensor | None:
    """The mean loss of that name by its textbook formula; none where the shapes do not fit, and for
    losses that are not known here.
    """
    same = prediction.shape == target.shape
    classes = prediction.dim() == target.dim() + 1
    if name == "cross_entropy" and classes and not target.is_floating_point():
        counted = target != ignored
        chosen = target.masked_fill(~counted, 0).long().unsqueeze(1)
        scores = prediction.log_softmax(1).gather(1, chosen).squeeze(1)
        return -(scores * counted).sum() / counted.sum().clamp(min=1)
    if name == "binary_cross_entropy_with_logits" and same:
        return (
            prediction.clamp(min=0) - prediction * target + (-prediction.abs()).exp().log1p()
        ).mean()
    if name == "mse" and same:
        return ((prediction - target) ** 2).mean()
    return None


def _numpy(tensor: Tensor) -> Array:
    """As numpy holds it: complex numbers by their size, short floats as longer ones."""
    tensor = tensor.detach().cpu()
    tensor = tensor.abs() if tensor.is_complex() else tensor
    return (tensor.float() if tensor.dtype in NOT_NUMPY else tensor).numpy()


def _has_classes(prediction: Tensor, labels: Tensor) -> bool:
    """Whether an output that has an axis more than the labels has a class for each of them: what a
    loader gives next to the rows may be no labels. A single output is parted in two.
    """
    if labels.is_floating_point() or prediction.dim() != labels.dim() + 1 or not labels.numel():
        return True
    classes = max(prediction.shape[1], prediction.shape[-1])
    return classes == 1 or int(labels.max()) < classes
