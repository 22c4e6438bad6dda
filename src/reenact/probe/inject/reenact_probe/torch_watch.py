"""The observer of PyTorch: opens a window on sampled steps and turns what passes into the trace."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from reenact_probe import torch_layers
from reenact_probe.facts import Data
from reenact_probe.guard import guarded, patch
from reenact_probe.layers import Layers, Parameters
from reenact_probe.made import Made
from reenact_probe.samples import learn_types
from reenact_probe.torch_capture import Capture
from reenact_probe.torch_evaluations import PASSES_AN_EVALUATION, Evaluations
from reenact_probe.torch_forward import ForwardHooks
from reenact_probe.torch_functions import ModeKeeper
from reenact_probe.torch_loader import Loaders
from reenact_probe.torch_model import Model
from reenact_probe.torch_passes import Passes
from reenact_probe.torch_sight import Sight
from reenact_probe.torch_steps import Steps
from reenact_probe.torch_update import Update
from reenact_probe.types import Facts, Function, Library, Module, Optimizer, Place, Tensor
from reenact_probe.window import Sketch, Window

if TYPE_CHECKING:
    from reenact_probe.keras_torch import KerasTorch
    from reenact_probe.recorder import Recorder
    from reenact_probe.torch_loader import Loader

NAN = float("nan")
PASSES_A_STEP = 4


class TorchWatch:
    """One per process. Its parts see single things; this says what they mean together."""

    def __init__(self, torch: Library, recorder: Recorder) -> None:
        learn_types(torch)
        self.torch = torch
        self.recorder = recorder
        self.window: Any = None
        """Open during a sampled step."""
        self.price = 0.0
        """Seconds spent looking during this step."""
        self.training = NAN
        self.external_optimizer = False
        """There is an optimiser that is not torch's: Keras has its own."""
        self.current_optimizer: Optimizer | None = None
        self.keras: KerasTorch | None = None
        """The part that knows Keras, when Keras runs on torch."""
        self.made = Made()
        self.layers = Layers()
        self.parameters = Parameters()
        self.data = Data()
        self.forwards = ForwardHooks(torch, Passes(torch, self))
        self.capture = Capture(torch, self)
        self.mode = ModeKeeper(torch, self.capture)
        self.model = Model(torch, self)
        self.sight = Sight(torch, self)
        self.loaders = Loaders(torch, self)
        self.steps = Steps(torch, self)
        self.update = Update(self)
        self.evaluations = Evaluations(torch, self)
        patch(torch.nn.Module, "__init__", self._wrap_init)
        self.step_ended()

    def _wrap_init(self, original: Function) -> Function:
        def __init__(module: Module, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(module, *args, **kwargs)
            self._made(module)

        return __init__

    @guarded("construct")
    def _made(self, module: Module) -> None:
        self.made.note(module)

    def introduce(self, model: Module) -> None:
        """A model that was made before anybody looked: its parts get their names."""
        if isinstance(model, self.torch.nn.Module) and self.torch.nn.Module in type(model).__mro__:
            self.model._know(model)

    @property
    def looking(self) -> bool:
        return self.window is not None or self.forwards.armed

    def place_of(self, module: Module) -> Place | None:
        """Where a module was made; a copy made by a library stands where what contains it was made."""
        place = self.made.place(module)
        return place if place is not None else self.model.place_of_container(module)

    def leave_mode(self) -> None:
        if self.mode.on:
            self.mode.leave()

    @property
    def in_fit(self) -> bool:
        """Keras's `fit` drives: its own callbacks tell of epochs, data and metrics."""
        return self.keras is not None and self.keras.outer.in_fit

    # Data -------------------------------------------------------------------------------------------------

    def loader_found(self, loader: Any, known: Loader) -> None:
        self.sight.dataset(loader, known)

    def loader_begins(self, known: Loader) -> None:
        if known is not self.sight.train_loader:
            self.evaluations.look()

    def loader_exhausted(self, known: Loader | None) -> None:
        if known is self.sight.train_loader:
            self.evaluations.look()

    def last_batch(self, known: Loader) -> None:
        """The batch just given is the last of its loader's round: the step it belongs to ends an epoch."""
        if known is not self.sight.train_loader or self.window is not None or self.in_fit:
            return
        if self.recorder.schedule.epoch_ends(self.recorder.step):
            self.steps.next_look = 0
            self.open_window()

    def epoch(self) -> int:
        """Epochs begun less one, by the best sign there is."""
        loader = self.loaders.current
        if self.keras is not None and self.keras.outer.in_fit:
            return self.recorder.epoch
        if loader is not None:
            if loader is not self.sight.train_loader:
                self.sight.train_loader = loader
                self.data.train_name = loader.name
            self.recorder.epoch = loader.rounds - 1
        elif self.sight.steps_an_epoch:
            self.recorder.epoch = self.recorder.step // self.sight.steps_an_epoch
        return self.recorder.epoch

    def batch_size(self) -> int:
        return self.sight.batch_size if self.loaders.current is None else self.loaders.batch_size

    # Steps ------------------------------------------------------------------------------------------------

    def loss_goes_back(self, tensor: Tensor) -> None:
        began = time.perf_counter()
        self.leave_mode()
        self.sight.loss_goes_back(tensor)
        self.price += time.perf_counter() - began

    def trainable(self) -> list[Tensor]:
        return self.model.trainable()

    @property
    def unsettled(self) -> bool:
        """Something is still open after a step: a window, hooks, a mode."""
        return self.forwards.armed or self.mode.on

    def step_ended(self) -> None:
        """Tidy up after a step and decide whether the next one is looked at."""
        recorder = self.recorder
        self.leave_mode()
        self.sight.step_ended()
        if recorder.config.stop_after is not None and recorder.step >= recorder.config.stop_after:
            from reenact_probe import ending

            ending.stop_here(recorder)
        if recorder.schedule.next(recorder.step) == recorder.step:
            self.open_window()
        elif self.forwards.armed:
            self.forwards.disarm()

    def open_window(self) -> None:
        """Look at the step that is about to begin."""
        schedule = self.recorder.schedule
        schedule.looked(self.recorder.step)
        self.window = Sketch() if schedule.bare else Window(self.torch, schedule)
        self.forwards.arm(PASSES_A_STEP, PASSES_AN_EVALUATION)

    def arm_step(self) -> None:
        """Look at the training pass of the open window again."""
        self.forwards.arm(training=PASSES_A_STEP)

    def finish(self) -> None:
        """The process ends: close what is open."""
        self.steps.finish()
        if self.recorder.owned:
            self.model.describe()
            self.write_data()

    def write_data(self) -> None:
        if self.data.dirty:
            self.data.dirty = False
            self.recorder.folder.write_json("data.json", self.data.as_dict(self.recorder.step))

    def crash_facts(self, error: BaseException) -> Facts:
        """The layer whose forward raised, and what it was given."""
        failed = self.forwards.failed
        if failed is None or failed[0] is not error:
            return {}
        _, module, args, kwargs = failed
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)]
        return {
            "layer": type(module).__name__,
            "layer_place": self.place_of(module),
            "layer_settings": torch_layers.settings_of(module),
            "inputs": [[list(tensor.shape), str(tensor.dtype), str(tensor.device)] for tensor in tensors[:4]],
        }
