"""What passes through the model: inputs, labels, predictions and the loss, in training and in evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from reenact_probe import rows, torch_graph, torch_loss
from reenact_probe.facts import MAX_KEYS, Split, row_keys
from reenact_probe.samples import first_tensor, plain
from reenact_probe.torch_layers import inner
from reenact_probe.torch_loader import labels_of
from reenact_probe.types import Args, Array, Kwargs, Library, Module, Tensor
from reenact_probe.window import Window

if TYPE_CHECKING:
    from reenact_probe.torch_loader import Loader

_LOOKS = 20
"""Batches whose inputs are read whole."""
_LABEL_LOOKS = 400
_VALUES = 1 << 19
_ROWS = 2000
"""Rows of a data set in memory that are measured."""


class Sight:
    """Knows which tensors are inputs, which are labels, and what the model made of them."""

    def __init__(self, torch: Library, watch: Any) -> None:
        self.torch = torch
        self.watch = watch
        self.window: Window | None = None
        """Layers of an evaluation pass."""
        self.train_loader: Loader | None = None
        self.batch_size = 0
        self.steps_an_epoch = 0
        self._pair: tuple[Tensor, Tensor] | None = None
        self._input: Tensor | None = None
        self._looks = self._label_looks = 0
        self._fresh = True
        """Every batch so far brought new rows."""

    # What is called ---------------------------------------------------------------------------------------

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
        """No pass through a model: a metric, a loss, a mere function that torch offers as a module."""
        library = type(module).__module__.startswith("torch.nn.modules.")
        mere = library and not module._modules and not module._parameters
        return mere or self.is_metric(module) or self.is_loss(module, output)

    def loss_called(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)]
        pair = (tensors[0], tensors[1]) if len(tensors) >= 2 else None
        if not self.torch.is_grad_enabled():
            self._metric("val_loss", output)
            return
        self._pair = pair or self._pair
        if self.watch.model.loss is None:
            self.watch.model.loss = torch_graph.module_loss(module, self.watch.place_of(module))

    def pair(self, prediction: Tensor, target: Any) -> None:
        """A loss outside torch's own compares these two; the first one in a step counts."""
        self._pair = self._pair or (prediction, target)

    # Passes -----------------------------------------------------------------------------------------------

    def training_pass(self, args: Args, kwargs: Kwargs) -> None:
        if self._input is not None:
            return
        self._input = value = self._first_input(args, kwargs)
        if value is None or not value.dim():
            return
        self.batch_size = value.shape[0]
        self._guess_epoch(value)
        split = self.watch.data.split("train", self.watch.recorder.step)
        if self._looks < _LOOKS and not self._known_whole():
            self._looks += 1
            self._notice_return(self._take(split, "input", value))

    def _known_whole(self) -> bool:
        """The data set behind the loader was read already: its batches add nothing."""
        loader = self.watch.loaders.current
        name = "train" if self._in_training_of_fit() else loader.name if loader is not None else None
        whole = self.watch.data.whole.get(name)
        return whole is not None and whole.input.rows > 0

    def _in_training_of_fit(self) -> bool:
        """Keras's `fit` trains on data that was read whole: the loader it makes has another name."""
        return self.watch.in_fit and self.torch.is_grad_enabled()

    def _first_input(self, args: Args, kwargs: Kwargs) -> Tensor | None:
        """The first tensor; Keras may be called with numpy arrays."""
        value = first_tensor(self.torch, (args, kwargs))
        if value is None and args and isinstance(args[0], numpy.ndarray) and args[0].dtype.kind in "fiub":
            value = self.torch.from_numpy(numpy.ascontiguousarray(args[0]))
        return value

    def _notice_return(self, known: float | None) -> None:
        """Without a loader and without slices: rows that all come back at once tell that an epoch is over."""
        if known is None or self.watch.loaders.current is not None or self.steps_an_epoch:
            return
        if known > 0.5 and self._fresh:
            self.steps_an_epoch = self.watch.recorder.step
        self._fresh = self._fresh and known < 0.1

    def _guess_epoch(self, value: Any) -> None:
        """Without a loader: a batch that is a slice of a larger tensor tells how many make an epoch."""
        if self.watch.loaders.current is None and not self.steps_an_epoch and value._is_view():
            whole = value._base
            if whole is not None and whole.dim() == value.dim() and whole.shape[1:] == value.shape[1:]:
                self.steps_an_epoch = -(-whole.shape[0] // max(1, value.shape[0]))

    def evaluation_begins(self) -> None:
        schedule = self.watch.recorder.schedule
        self.window = None if schedule.bare else Window(self.torch, schedule)

    def evaluation_pass(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        watch, torch = self.watch, self.torch
        if not watch.recorder.step:
            return
        model = inner(module)
        watch.recorder.event("evaluation", training=bool(model.training), model=type(model).__name__)
        value = first_tensor(torch, (args, kwargs))
        loader = watch.loaders.current
        split = watch.data.split(loader.name if loader is not None else "evaluation", watch.recorder.step)
        batch = watch.loaders.batch
        labels = labels_of(torch, batch) if batch is not None else None
        if value is not None and split.input.rows < 4096 and not self._known_whole():
            self._take(split, "input", value)
        if labels is not None and split.label.rows < 65536:
            self._take(split, "label", labels)
        prediction = first_tensor(torch, output)
        if labels is not None and prediction is not None:
            self._metric("val_accuracy", self._compare(prediction, labels.to(prediction.device)))
        self._close_evaluation()

    def _close_evaluation(self) -> None:
        window, self.window = self.window, None
        if window is None or not window.outputs:
            return
        table, raw = window.fetch()
        for row in rows.layer_rows(window, table, raw, self.watch.recorder.step):
            self.watch.recorder.tables["layers"].add(row)

    # The loss ---------------------------------------------------------------------------------------------

    def loss_goes_back(self, tensor: Tensor) -> None:
        model, capture = self.watch.model, self.watch.capture
        if capture.losses:
            name, args, kwargs, place = capture.losses[-1]
            capture.losses = []
            tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)]
            self._pair = (tensors[0], tensors[1]) if len(tensors) >= 2 else self._pair
            model.loss = model.loss or torch_graph.function_loss(name, kwargs, place)
        read = None
        if (self._pair is None or model.loss is None) and isinstance(tensor, self.torch.Tensor):
            read = torch_loss.read(tensor)
        if read is not None:
            model.loss = model.loss or torch_graph.loss_facts(read.name, read.settings, None)
            if self._pair is None and read.target is not None and read.prediction is not None:
                self._pair = (read.prediction, read.target)
        self._labels()
        self._count_rows()

    def _count_rows(self) -> None:
        """Inputs may have time first; the labels tell which size is the batch."""
        if self._pair is None or self._input is None or not self._pair[1].dim():
            return
        rows = self._pair[1].shape[0]
        if self.batch_size != rows and self._input.dim() > 1 and self._input.shape[1] == rows:
            self.batch_size = rows

    def _labels(self) -> None:
        """The labels of this batch: from the loss, else from the loader."""
        batch = self.watch.loaders.batch
        label = (
            self._pair[1]
            if self._pair is not None
            else labels_of(self.torch, batch)
            if batch is not None
            else None
        )
        split = self.watch.data.split("train", self.watch.recorder.step)
        if label is not None and self._label_looks < _LABEL_LOOKS and split.label.rows < 100_000:
            self._label_looks += 1
            self._take(split, "label", label)

    def accuracy(self, window: Window) -> int | None:
        """Slot of the share of right predictions in this batch, or none where that means nothing."""
        if self._pair is None:
            return None
        share = self._compare(*self._pair)
        return window.add_raw(share) if share is not None else None

    def _compare(self, prediction: Tensor, target: Any) -> Tensor | None:
        if not (plain(self.torch, prediction) and plain(self.torch, target)) or not prediction.dim():
            return None
        prediction, target = prediction.detach(), target.detach()
        if target.dim() == prediction.dim() and target.shape[-1] == 1 and prediction.shape[-1] > 1:
            target = target.squeeze(-1)
        if prediction.dim() == target.dim() + 1 and prediction.shape[-1] == 1:
            prediction = prediction.squeeze(-1)
        labels = self.watch.data.split("train", self.watch.recorder.step).label
        if not target.is_floating_point() and prediction.dim() == target.dim() + 1:
            return (prediction.argmax(1) == target).float().mean()
        if prediction.shape != target.shape or not labels.integral or not labels.rows:
            return None
        if labels.one_hot and prediction.dim() == 2:
            return (prediction.argmax(1) == target.argmax(1)).float().mean()
        if set(labels.counts) <= {0, 1}:
            loss = (self.watch.model.loss or {}).get("from_logits")
            return ((prediction > (0.0 if loss else 0.5)) == (target > 0.5)).float().mean()
        return None

    # Bookkeeping ------------------------------------------------------------------------------------------

    def _take(self, split: Split, role: str, tensor: Tensor) -> float | None:
        """Read a batch into the facts, as many rows as fit; gives the share of input rows known before."""
        if not plain(self.torch, tensor) or not tensor.dim() or not tensor.numel():
            return None
        tensor = tensor.detach()
        fitting = max(1, _VALUES // max(1, tensor.numel() // tensor.shape[0]))
        array = _numpy(self.torch, tensor[:fitting])
        self._update(split, role, array, str(tensor.dtype).replace("torch.", ""))
        return split.add_keys(array) if role == "input" else None

    @staticmethod
    def _update(split: Split, role: str, array: Array, dtype: str) -> None:
        facts = split.input if role == "input" else split.label
        facts.update(array, dtype)
        if role == "label":
            facts.count_classes(array)

    def dataset(self, loader: Any, known: Loader) -> None:
        """Read tensors that lie in memory. Nothing is drawn from other data sets: drawing may be random."""
        data = self.torch.utils.data
        dataset, indices = loader.dataset, None
        if type(dataset) is data.Subset:
            dataset, indices = dataset.dataset, dataset.indices
        split = Split(self.watch.recorder.step)
        if type(dataset) is data.TensorDataset:
            self._whole(split, dataset.tensors, indices)
        elif indices is not None:
            split.keys = {hash((id(dataset), int(index))) for index in indices}
        if split.keys:
            self.watch.data.whole[known.name] = split

    def _whole(self, split: Split, tensors: Any, indices: Any) -> None:
        tensors = [
            tensor for tensor in tensors[:2] if plain(self.torch, tensor) and tensor.device.type == "cpu"
        ]
        for role, tensor in zip(("input", "label"), tensors):
            count = len(tensor) if indices is None else len(indices)
            chosen = numpy.arange(count) if indices is None else numpy.asarray(indices)
            array = _numpy(self.torch, tensor)
            few = chosen[:: max(1, count // _ROWS)] if role == "input" else chosen[:100_000]
            self._update(split, role, array[few], str(tensor.dtype).replace("torch.", ""))
            if role == "input":
                split.keys = set(row_keys(array[chosen[:MAX_KEYS]]))

    def _metric(self, name: str, value: Any) -> None:
        if not self.watch.in_fit and isinstance(value, self.torch.Tensor) and value.numel() == 1:
            self.watch.recorder.metric(name, value.detach(), "probe")

    def step_ended(self) -> None:
        self._pair = self._input = None
        self.watch.loaders.batch = None


def _numpy(torch: Library, tensor: Tensor) -> Array:
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
