"""The observer of PyTorch: opens a window on sampled steps and turns what passes into the trace."""

from __future__ import annotations

import time

from reenact_probe import rows, torch_layers
from reenact_probe.facts import Data
from reenact_probe.guard import guarded, patch
from reenact_probe.layers import Layers, Parameters
from reenact_probe.made import Made
from reenact_probe.places import is_library
from reenact_probe.samples import first_tensor, learn_types
from reenact_probe.torch_capture import Capture
from reenact_probe.torch_forward import ForwardHooks
from reenact_probe.torch_functions import ModeKeeper
from reenact_probe.torch_loader import Loaders
from reenact_probe.torch_model import Model
from reenact_probe.torch_sight import Sight
from reenact_probe.torch_steps import Steps
from reenact_probe.window import Sketch, Window

NAN = float("nan")
PASSES_A_STEP = 4
PASSES_AN_EVALUATION = 3


class TorchWatch:
    """One per process. Its parts see single things; this says what they mean together."""

    def __init__(self, torch, recorder):
        learn_types(torch)
        self.torch = torch
        self.recorder = recorder
        self.window = None
        """Open during a sampled step."""
        self.price = 0.0
        """Seconds spent looking during this step."""
        self.training = NAN
        self.external_optimizer = False
        """There is an optimiser that is not torch's: Keras has its own."""
        self.current_optimizer = None
        self.keras = None
        """The part that knows Keras, when Keras runs on torch."""
        self.made = Made()
        self.layers = Layers()
        self.parameters = Parameters()
        self.data = Data()
        self.forwards = ForwardHooks(torch, self)
        self.capture = Capture(torch, self)
        self.mode = ModeKeeper(torch, self.capture)
        self.model = Model(torch, self)
        self.sight = Sight(torch, self)
        self.loaders = Loaders(torch, self)
        self.steps = Steps(torch, self)
        self._evaluated = None
        self._late = False
        self._install()
        self.step_ended()

    def _install(self):
        module = self.torch.nn.Module
        patch(module, "__init__", self._wrap_init)
        patch(module, "eval", self._wrap_eval)
        for context in (self.torch.no_grad, self.torch.inference_mode):
            patch(context, "__enter__", self._wrap_enter)
            patch(context, "__exit__", self._wrap_exit)

    def _wrap_init(self, original):
        def __init__(module, *args, **kwargs):  # noqa: N807
            original(module, *args, **kwargs)
            self._made(module)

        return __init__

    @guarded("construct")
    def _made(self, module):
        self.made.note(module)

    def _wrap_eval(self, original):
        def eval(module):  # noqa: A001
            self.look_at_evaluation()
            return original(module)

        return eval

    def _wrap_enter(self, original):
        import sys

        def __enter__(context):  # noqa: N807
            if not is_library(sys._getframe(1).f_code.co_filename):
                self.look_at_evaluation()
            return original(context)

        return __enter__

    def _wrap_exit(self, original):
        def __exit__(context, *error):  # noqa: N807
            # A long evaluation used up its looks; the training pass that comes next is still wanted.
            if self.window is not None and not self.forwards.armed:
                self._arm_step()
            return original(context, *error)

        return __exit__

    @guarded("arm")
    def _arm_step(self):
        self.forwards.arm(training=PASSES_A_STEP)

    def introduce(self, model):
        """A model that was made before anybody looked: its parts get their names."""
        if isinstance(model, self.torch.nn.Module) and self.torch.nn.Module in type(model).__mro__:
            self.model._know(model)

    @property
    def looking(self):
        return self.window is not None or self.forwards.armed

    def place_of(self, module):
        """Where a module was made; a copy made by a library stands where what contains it was made."""
        place = self.made.place(module)
        return place if place is not None else self.model.place_of_container(module)

    # Forward passes ---------------------------------------------------------------------------------------

    def root_begins(self, module):
        if self.window is None or not self.torch.is_grad_enabled() or not module.training:
            self.leave_mode()
            return
        if self.model.is_new(module):
            self.capture.begin()
            if not self.torch.compiler.is_compiling() and not self.model.compiled(module):
                self.mode.enter()

    def is_closed(self, module):
        """Whether what runs inside a layer is its own business: the cell of a recurrent Keras layer."""
        return self.keras is not None and self.keras.owns(module) and hasattr(module, "cell")

    def leave_mode(self):
        if self.mode.on:
            self.mode.leave()

    def layer_called(self, module, args, kwargs, output):
        began = time.perf_counter()
        if self.sight.is_loss(module, output):
            self.sight.loss_called(module, args, kwargs, output)
        elif not self.sight.is_metric(module):
            self._layer(module, args, kwargs, output)
        self.price += time.perf_counter() - began

    def _layer(self, module, args, kwargs, output):
        info = self.layers.get(module) or self._new_layer(module)
        if info is None:
            return
        if self.capture.follows:
            self.capture.layer(module, info, args, kwargs, output)
        evaluating = not self.torch.is_grad_enabled()
        window = self.sight.window if evaluating else self.window
        if window is not None and not info.quiet:
            window.output(info, first_tensor(self.torch, output), int(evaluating), float(module.training))

    def _new_layer(self, module):
        if self.keras is not None and self.keras.owns(module):
            return self.keras.new_layer(module)
        return self.model.new_layer(module)

    def root_ends(self, module, args, kwargs, output):
        began = time.perf_counter()
        if self.keras is not None and self.keras.owns(module):
            self.keras.root_called(module)
        if self.capture.follows:
            self.capture.end()
            self.model.captured(module)
        kind = self._kind(module, output)
        if kind == "training":
            self.training = float(module.training)
            self.sight.training_pass(args, kwargs)
        elif kind == "evaluation":
            self.sight.evaluation_pass(module, args, kwargs, output)
        self.price += time.perf_counter() - began
        return kind

    def _kind(self, module, output):
        if self.sight.is_auxiliary(module, output):
            return None
        return "training" if self.torch.is_grad_enabled() else "evaluation"

    @guarded("evaluation")
    def look_at_evaluation(self):
        """Somebody is about to evaluate: look at a few passes, once between two steps."""
        if self._evaluated != self.recorder.step and self.recorder.step:
            self._evaluated = self.recorder.step
            self.sight.evaluation_begins()
            self.forwards.arm(evaluation=PASSES_AN_EVALUATION)

    @property
    def in_fit(self):
        """Keras's `fit` drives: its own callbacks tell of epochs, data and metrics."""
        return self.keras is not None and self.keras.outer.in_fit

    # Data -------------------------------------------------------------------------------------------------

    def loader_found(self, loader, known):
        self.sight.dataset(loader, known)

    def loader_begins(self, known):
        if known is not self.sight.train_loader:
            self.look_at_evaluation()

    def loader_exhausted(self, known):
        if known is self.sight.train_loader:
            self.look_at_evaluation()

    def last_batch(self, known):
        """The batch just given is the last of its loader's round: the step it belongs to ends an epoch."""
        if known is not self.sight.train_loader or self.window is not None or self.in_fit:
            return
        if self.recorder.schedule.epoch_ends(self.recorder.step):
            self.steps.next_look = 0
            self.open_window()

    def epoch(self):
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

    def batch_size(self):
        return self.sight.batch_size if self.loaders.current is None else self.loaders.batch_size

    # Steps ------------------------------------------------------------------------------------------------

    def loss_goes_back(self, tensor):
        began = time.perf_counter()
        self.leave_mode()
        self.sight.loss_goes_back(tensor)
        self.price += time.perf_counter() - began

    def trainable(self):
        return self.model.trainable()

    def update_begins(self, parameters, late):
        """Right before the weights move; `late` when the gradients come only with a closure."""
        began = time.perf_counter()
        self.leave_mode()
        self.window.before_step(self.model.followed(parameters))
        if not late:
            self.window.take_gradients()
        self._late = late
        self.model.describe()
        self.price += time.perf_counter() - began

    def update_ends(self):
        """Right after: rows of the window, and (gradient, weight, update norms, accuracy) of the whole
        step.
        """
        window, self.window = self.window, None
        if self._late:
            # The closure brought the first pass: only now is there something to describe.
            self.model.describe()
        if window.before is None:
            self.recorder.spent += self.price
            self.price = 0.0
            return None
        if self._late:
            window.take_gradients()
        window.after_step()
        accuracy = self.sight.accuracy(window)
        table, raw = window.fetch()
        step = self.recorder.step
        for row in rows.layer_rows(window, table, raw, step):
            self.recorder.tables["layers"].add(row)
        found = list(rows.parameter_rows(window, table, raw, step))
        for row in found:
            self.recorder.tables["parameters"].add(row)
        value = float(raw[accuracy][0]) if accuracy is not None else NAN
        return (
            rows.total(raw, window.grad_norms),
            rows.total(raw, window.weight_norms),
            rows.total_update(found),
            value,
        )

    @property
    def unsettled(self):
        """Something is still open after a step: a window, hooks, a mode."""
        return self.forwards._handles or self.mode.on

    def step_ended(self):
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

    def open_window(self):
        """Look at the step that is about to begin."""
        schedule = self.recorder.schedule
        schedule.looked(self.recorder.step)
        self.window = Sketch() if schedule.bare else Window(self.torch, schedule)
        self.forwards.arm(PASSES_A_STEP, PASSES_AN_EVALUATION)

    def finish(self):
        """The process ends: close what is open."""
        self.steps.finish()
        if self.recorder.owned:
            self.model.describe()
            self.write_data()

    def write_data(self):
        if self.data.dirty:
            self.data.dirty = False
            self.recorder.folder.write_json("data.json", self.data.as_dict(self.recorder.step))

    def crash_facts(self, error):
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
