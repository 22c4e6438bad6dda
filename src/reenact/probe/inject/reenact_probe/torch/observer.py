"""The observer of PyTorch: opens a window on sampled steps and turns what passes into the trace."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Protocol

from reenact_probe import ending, weights
from reenact_probe.data import Data
from reenact_probe.guard import after, guarded, when_made
from reenact_probe.places import Made, caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.batches import BatchObserver
from reenact_probe.torch.capture import Capture
from reenact_probe.torch.facts import inner, module_loss
from reenact_probe.torch.forward import PASSES_A_STEP, PASSES_AN_EVALUATION, ForwardHooks
from reenact_probe.torch.loaders import Loader, Loaders
from reenact_probe.torch.model import LayerInfo, Model
from reenact_probe.torch.samples import first_tensor, learn_types
from reenact_probe.torch.steps import Steps
from reenact_probe.torch.window import Window, norm_of
from reenact_probe.types import Args, Facts, Kwargs, Library, Module, Optimizer, Tensor

NAN = float("nan")
UPDATE_NORM = -2
"""Column of a parameter's row."""


class KerasPart(Protocol):
    """What knows Keras, when Keras runs on torch."""

    @property
    def in_fit(self) -> bool: ...

    def owns(self, module: Module) -> bool: ...

    def new_layer(self, layer: Module) -> LayerInfo | None: ...

    def root_called(self, model: Module) -> None: ...

    def graph(self) -> Facts | None: ...


class TorchObserver:
    """One per process. Its parts see single things and tell them; this says what they mean together."""

    def __init__(self, torch: Library, recorder: Recorder) -> None:
        learn_types(torch)
        self.torch = torch
        self.recorder = recorder
        self.window: Window | None = None
        """Open during a sampled step."""
        self.training = NAN
        """The mode of the model in the last training pass seen."""
        self.made = Made()
        self.data = Data()
        self._optimizer: Optimizer | None = None
        self._cost = 0.0
        """Seconds spent looking during the step under way."""
        self._keras: KerasPart | None = None
        self._late = False
        """The gradients of the update under way come with a closure."""
        self._half = False
        """A layer was seen to compute in half precision."""
        self._pads = False
        self._weights: list[tuple[str, dict[str, Tensor]]] = []
        """Of the models that there were at the last look: the program may let go of them before it ends."""
        self.forwards = ForwardHooks(torch, recorder, self)
        self.model = Model(torch, self.made)
        self.capture = Capture(torch, self.forwards, self.model.place_of)
        self._loaders = Loaders(torch, recorder, self)
        self._batches = BatchObserver(torch, recorder, self.data, self._loaders)
        self.steps = Steps(torch, recorder, self.forwards, self._loaders, self.made, self)
        when_made(torch.nn.Module, self._made)
        after(torch.nn.Module, "load_state_dict", self._loaded)
        after(torch.nn.utils.rnn, "pad_sequence", self._padded)
        recorder.at_close.append(self._leave_weights)
        self.step_ended()

    @guarded("construct")
    def _made(self, module: Module) -> None:
        self.made.note(module)

    @guarded("load")
    def _loaded(self, result: Any, module: Module, *_: Any, **__: Any) -> None:
        """A checkpoint was loaded: how many weights found theirs."""
        missing, unexpected = (getattr(result, name, ()) for name in ("missing_keys", "unexpected_keys"))
        if missing or unexpected:
            counts = {"missing": len(missing), "unexpected": len(unexpected)}
            self.recorder.event("weights-loaded", total=len(module.state_dict()), place=caller(), **counts)

    @guarded("padding")
    def _padded(self, _: Any, sequences: Any, *__: Any, **___: Any) -> None:
        """Rows of different lengths were filled up: noted once."""
        if not self._pads and len({len(row) for row in sequences}) > 1:
            self._pads = True
            self.recorder.event("padded", place=caller())

    def introduce(self, model: Module) -> None:
        """A model that was made before anybody looked: its parts get their names."""
        if isinstance(model, self.torch.nn.Module) and self.torch.nn.Module in type(model).__mro__:
            self.model.name_parts(model)

    def join_keras(self, part: KerasPart) -> None:
        """Keras runs on torch: its layers, its `fit` and its graph are asked of this part."""
        self._keras = part

    @property
    def in_fit(self) -> bool:
        """Keras's `fit` drives: its own callbacks tell of epochs, data and metrics."""
        return self._keras is not None and self._keras.in_fit

    # Data -------------------------------------------------------------------------------------------------

    @property
    def looking(self) -> bool:
        return self.window is not None or self.forwards.armed

    def loader_found(self, loader: Any, known: Loader) -> None:
        self._batches.dataset(loader, known)

    def loader_begins(self, known: Loader) -> None:
        if known is not self._batches.train_loader:
            self.forwards.expect_evaluation()

    def loader_exhausted(self, known: Loader | None) -> None:
        if known is self._batches.train_loader:
            self.forwards.expect_evaluation()

    def last_batch(self, known: Loader) -> None:
        """The batch just given is the last of its loader's round: the step it belongs to ends an epoch."""
        if known is not self._batches.train_loader or self.window is not None or self.in_fit:
            return
        if self.recorder.schedule.epoch_ends(self.recorder.step):
            self.steps.look_by(0)
            self._open_window()

    def epoch(self) -> int:
        """Epochs begun less one, by the best sign there is."""
        if not self.in_fit:
            epoch = self._batches.epoch()
            if epoch is not None:
                self.recorder.set_epoch(epoch)
        return self.recorder.epoch

    def batch_size(self) -> int:
        return self._batches.size()

    def write_data(self) -> None:
        self.recorder.write_data(self.data.take_news(self.recorder.step))

    # Forward passes ---------------------------------------------------------------------------------------

    def root_begins(self, module: Module) -> None:
        if self.window is None or not self.torch.is_grad_enabled() or not inner(module).training:
            self.capture.leave_mode()
            return
        if self.model.is_new(module):
            self.capture.begin()
            if not self.torch.compiler.is_compiling() and not self.model.compiled(module):
                self.capture.enter_mode()

    def is_closed(self, module: Module) -> bool:
        """Whether what runs inside a layer is its own business: the cell of a recurrent Keras layer, the
        pieces that a compiler made of a model.
        """
        return self.model.compiled(module) or (self._keras_of(module) is not None and hasattr(module, "cell"))

    def _keras_of(self, module: Module) -> KerasPart | None:
        """What knows this module, when it is one of Keras."""
        return self._keras if self._keras is not None and self._keras.owns(module) else None

    def layer_called(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        began = perf_counter()
        if self.model.compiled(module):
            self._compiled_called(module)
        elif self._batches.is_loss(module, output):
            trains = self._batches.loss_called(args, kwargs, output, self.in_fit)
            if trains and self.model.loss is None:
                loss = module_loss(module, self.model.place_of(module))
                compared, bend = self._batches.shapes_compared(), self._batches.bend()
                loss.update(compared=compared, called=caller(), bend=bend)
                self.model.set_loss(loss)
        elif not self._batches.is_metric(module):
            self._layer(module, args, kwargs, output)
        self._cost += perf_counter() - began

    def _compiled_called(self, module: Module) -> None:
        if self.model.is_new(module):
            self.recorder.note_missing("layer outputs and their shapes: the model is compiled")
            for name, part in self.model.parts_of_compiled(module):
                self.capture.part(name, part)

    def _layer(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> None:
        info = self.model.layers.get(module)
        if info is None:
            keras = self._keras_of(module)
            within = self.forwards.running
            info = self.model.new_layer(module, within) if keras is None else keras.new_layer(module)
        if info is None:
            return
        if not self._half and getattr(output, "dtype", None) is self.torch.float16:
            self._half = True
            self.recorder.event("half-precision")
        if self.capture.follows:
            self.capture.layer(module, info, args, kwargs, output)
        evaluating = not self.torch.is_grad_enabled()
        window = self._batches.window if evaluating else self.window
        if window is not None and not info.quiet:
            window.output(info, first_tensor(self.torch, output), int(evaluating), float(module.training))

    def root_ends(self, module: Module, args: Args, kwargs: Kwargs, output: Any) -> str | None:
        began = perf_counter()
        keras = self._keras_of(module)
        if keras is not None:
            keras.root_called(module)
        if self.capture.follows:
            self.capture.end()
            self.model.captured(module, self.capture.modules())
        kind = None
        if not self._batches.is_auxiliary(module, output):
            kind = "training" if self.torch.is_grad_enabled() else "evaluation"
        if kind == "training":
            self.training = float(inner(module).training)
            self._batches.training_pass(args, kwargs, self.in_fit)
        elif kind == "evaluation":
            self._batches.evaluation_pass(module, args, kwargs, output, self.model, self.in_fit)
        self._cost += perf_counter() - began
        return kind

    def evaluation_begins(self) -> None:
        self._batches.evaluation_begins()

    # The loss ---------------------------------------------------------------------------------------------

    def loss_goes_back(self, tensor: Any) -> None:
        began = perf_counter()
        self.capture.leave_mode()
        call = self.capture.take_loss()
        for axis, shape, place in self.capture.normalized[:4]:
            self.recorder.event("normalized", axis=axis, shape=shape, place=place)
        self.capture.normalized = []
        self.model.set_loss(self._batches.loss_goes_back(tensor, call, self.model.loss is not None))
        self._cost += perf_counter() - began

    def keras_loss_called(self, prediction: Any, target: Any, facts: Facts | None) -> None:
        """A loss of Keras compares these two."""
        tensors = (self.torch.Tensor, self.torch.nn.Parameter)
        if self.window is not None and self.torch.is_grad_enabled():
            if isinstance(prediction, tensors) and isinstance(target, tensors):
                self._batches.compared(prediction, target)
            self.model.loss = facts or self.model.loss

    # Steps ------------------------------------------------------------------------------------------------

    def update_begins(
        self, parameters: list[Tensor], late: bool = False, optimizer: Optimizer | None = None
    ) -> None:
        """Right before the weights move; `late` when the gradients come only with a closure."""
        began = perf_counter()
        if optimizer is not None:
            self._optimizer = optimizer
        self.capture.leave_mode()
        if self.window is not None:
            self.window.before_step(self.model.followed(parameters))
            if not late and not self.window.bare:
                self.window.take_gradients()
        self._late = late
        self._describe()
        if self.recorder.config.weights is not None:
            self._hold_weights()
        self._cost += perf_counter() - began

    def _hold_weights(self) -> None:
        """Names for what the program holds itself: nothing is copied, and nothing large or on a device is
        held longer than the program does."""
        models = [(type(root).__name__, weights.weights_of(root)) for root in self.model.roots()]
        held = [(name, tensors) for name, tensors in models if tensors]
        self._weights = [] if weights.refusal([tensors for _, tensors in held]) else held

    def update_by_hand_begins(self) -> None:
        self.update_begins(self.model.trainable())

    def update_ends(self) -> tuple[float, ...] | None:
        """Right after the weights moved: rows of the window, and (gradient, weight, update norms, accuracy,
        loss on the labels and on those of other rows) of the whole step.
        """
        window, self.window = self.window, None
        if self._late:
            # The closure brought the first pass: only now is there something to describe.
            self._describe()
        if window is None or window.before is None:
            self.recorder.spend(self.take_cost())
            return None
        if self._late:
            window.take_gradients()
        window.after_step()
        return self._write(window)

    def _write(self, window: Window) -> tuple[float, ...]:
        accuracy = self._batches.accuracy(window, self.model.from_logits)
        losses = self._batches.label_losses(window, self.model.loss or {})
        step, tables = self.recorder.step, self.recorder.tables
        window.fetch()
        tables["layers"].extend(window.layer_rows(step))
        moved = list(window.parameter_rows(step))
        tables["parameters"].extend(moved)
        share = float(window.raw[accuracy][0]) if accuracy is not None else NAN
        both = window.raw[losses].tolist() if losses is not None else (NAN, NAN)
        return (*window.total_norms(), norm_of([row[UPDATE_NORM] for row in moved]), share, *both)

    def take_cost(self) -> float:
        """Seconds spent looking so far; from now on another step is counted."""
        cost, self._cost = self._cost, 0.0
        return cost

    @property
    def unsettled(self) -> bool:
        """Something is still open after a step: hooks, a mode."""
        return self.forwards.armed or self.capture.mode_on

    def step_ended(self) -> None:
        """Tidy up after a step and decide whether the next one is looked at."""
        recorder = self.recorder
        self.capture.leave_mode()
        self._batches.step_ended()
        self._loaders.forget_batch()
        if recorder.config.stop_after is not None and recorder.step >= recorder.config.stop_after:
            ending.stop_here(recorder)
        if recorder.schedule.next(recorder.step) == recorder.step:
            self._open_window()
        elif self.forwards.armed:
            self.forwards.disarm()

    def _open_window(self) -> None:
        """Look at the step that is about to begin."""
        schedule = self.recorder.schedule
        schedule.looked(self.recorder.step)
        self.window = Window(self.torch, schedule)
        self.forwards.arm(PASSES_A_STEP, PASSES_AN_EVALUATION)

    @guarded("exit-weights")
    def _leave_weights(self) -> None:
        if self.recorder.config.weights is not None:
            weights.leave(self.torch, self.recorder.config.weights, self._weights)

    # The graph and the end --------------------------------------------------------------------------------

    def _describe(self) -> None:
        """Write header and graph when there is something new to say."""
        header = self.model.take_header()
        if header is not None:
            self.recorder.write_header(**header)
        if self.model.take_news(len(self.capture.entries), self._optimizer):
            known = self._keras.graph() if self._keras is not None else None
            if known is None:
                known = self.model.graph(self.capture.entries, self._optimizer, self.batch_size())
            self.recorder.write_graph(known)

    def finish(self) -> None:
        """The process ends: close what is open."""
        self.steps.finish()
        if self.recorder.owned:
            self._describe()
            self.write_data()
            self._batches.write_signal()

    def crash_facts(self, error: BaseException) -> Facts:
        """The layer whose forward raised, and what it was given."""
        failed = self.forwards.failed
        if failed is None or failed[0] is not error:
            return {}
        _, module, args, kwargs = failed
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)]
        return {
            "layer": type(module).__name__,
            "layer_place": self.model.place_of(module),
            "inputs": [[list(tensor.shape), str(tensor.dtype), str(tensor.device)] for tensor in tensors[:4]],
        }
