"""The observer of PyTorch: opens a window on sampled steps and turns what passes into the trace."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Protocol

from reenact_probe import ending, weights
from reenact_probe.books.hub import Books, all_books
from reenact_probe.data import Data
from reenact_probe.guard import after, guarded, when_made
from reenact_probe.places import caller
from reenact_probe.recorder import Recorder
from reenact_probe.torch.batches import BatchObserver
from reenact_probe.torch.between import Between
from reenact_probe.torch.capture import Capture
from reenact_probe.torch.facts import inner, module_loss
from reenact_probe.torch.forward import (
    PASSES_A_STEP,
    PASSES_AN_EVALUATION,
    ForwardHooks,
)
from reenact_probe.torch.graphs import Graphs
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
    """One per process. Its parts see single things and tell them; this says what they mean
    together.
    """

    def __init__(self, torch: Library, recorder: Recorder) -> None:
        learn_types(torch)
        self.torch = torch
        self.recorder = recorder
        self.window: Window | None = None
        """Open during a sampled step."""
        self.training = NAN
        """The mode of the model in the last training pass seen."""
        self.made = recorder.made
        self.data = Data()
        self._optimizer: Optimizer | None = None
        self.cost = 0.0
        """Seconds spent looking during the step under way."""
        self.keras: KerasPart | None = None
        """Knows the layers, the `fit` and the graph of Keras, where that runs on torch."""
        self._late = False
        """The gradients of the update under way come with a closure."""
        self._passes = 0
        """Of the evaluation under way."""
        self._whole = False
        """All passes of it are looked at."""
        self._followed = False
        """The loss of an earlier pass was followed when the pass under way began."""
        self._weights: list[tuple[str, dict[str, Tensor]]] = []
        """Of the models that there were at the last look: the program may let go of them before
        it ends.
        """
        self.forwards = ForwardHooks(torch, recorder, self)
        self.model = Model(torch, self.made)
        self.capture = Capture(torch, self.forwards, self.model.place_of)
        self.books = Books(recorder, all_books(torch, recorder))
        self._between = Between(torch, self.books)
        self._loaders = Loaders(torch, recorder, self)
        self.batches = BatchObserver(torch, recorder, self.data, self._loaders)
        self._graphs = Graphs(torch, recorder)
        self.batch_size = self.batches.size
        self.loader_found = self.batches.dataset
        self.steps = Steps(
            self.forwards,
            self._loaders,
            self.made,
            self,
        )
        when_made(
            torch.nn.Module,
            guarded("construct")(self.made.note),
        )
        after(torch.nn.Module, "load_state_dict", self._loaded)
        after(torch.nn.utils.rnn, "pad_sequence", self._padded)
        recorder.at_close.append(self._leave_weights)
        self.step_ended()

    @guarded("load")
    def _loaded(self, result: Any, module: Module, *_: Any, **__: Any) -> None:
        """A checkpoint was loaded: how many weights found theirs."""
        missing, unexpected = (
            getattr(result, name, ()) for name in ("missing_keys", "unexpected_keys")
        )
        if missing or unexpected:
            counts = {"missing": len(missing), "unexpected": len(unexpected)}
            self.recorder.event(
                "weights-loaded",
                total=len(module.state_dict()),
                place=caller(),
                **counts,
            )

    @guarded("padding")
    def _padded(self, _: Any, sequences: Any, *__: Any, **___: Any) -> None:
        """Rows of different lengths were filled up: noted once."""
        if "padded" not in self.recorder.kinds and len({len(row) for row in sequences}) > 1:
            self.recorder.event("padded", place=caller())

    def introduce(self, model: Module) -> None:
        """A model that was made before anybody looked: its parts get their names."""
        if isinstance(model, self.torch.nn.Module) and self.torch.nn.Module in type(model).__mro__:
            self.model.name_parts(model)

    @property
    def in_fit(self) -> bool:
        """Keras's `fit` drives: its own callbacks tell of epochs, data and metrics."""
        return self.keras is not None and self.keras.in_fit

    @property
    def optimizer_count(self) -> int:
        return len(self.steps.optimizers)

    @property
    def looking(self) -> bool:
        return self.window is not None or bool(self.forwards.handles)

    def evaluation_begins(self) -> bool:
        """An evaluation begins; whether all of its passes are to be looked at."""
        self.batches.evaluation_begins()
        self._passes = 0
        self._whole = not self.in_fit and self.books.evaluation_begins()
        return self._whole

    def _wants_more(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> bool:
        """Tell the books of a pass of an evaluation that they read as a whole."""
        loader = self._loaders.current
        batch = self._loaders.batch
        trains = self.batches.trains(loader)
        elsewhere = not loader.given or (trains and batch is None) if loader is not None else True
        source = None if loader is None or elsewhere else (loader.name, loader.rounds)
        given = first_tensor(self.torch, (args, kwargs))
        behind = self._loaders.batch_behind(given) if source is not None else None
        labels = self._loaders.labels_in(behind)
        if given is None:
            return True
        return self.books.judged(inner(module), source, given, output, labels)

    def loader_begins(self, known: Loader) -> None:
        if not self.batches.trains(known):
            self.forwards.expect_evaluation()

    def loader_exhausted(self, known: Loader | None) -> None:
        if self.batches.trains(known):
            self.forwards.expect_evaluation()

    def last_batch(self, known: Loader) -> None:
        """The batch just given is the last of its loader's round: the step it belongs to ends
        an epoch.
        """
        trains = self.batches.trains(known) and self.window is None and not self.in_fit
        if trains and self.recorder.schedule.epoch_ends(self.recorder.step):
            self.steps.next_look = 0
            self._open_window()

    def epoch(self) -> int:
        """Epochs begun less one, by the best sign there is."""
        epoch = self.batches.epoch() if not self.in_fit else None
        if epoch is not None:
            self.recorder.epoch = epoch
        return self.recorder.epoch

    def write_data(self, at_end: bool = False) -> None:
        self.recorder.write_data(self.data.take_news(self.recorder.step))
        self.books.write(at_end)

    def batch_given(self, loader: Loader | None, batch: Any) -> None:
        self.books.batch_given(loader, batch)

    def cleared(self, optimizer: Optimizer | None) -> None:
        self.books.cleared(optimizer)

    def gradients_came(self) -> None:
        """The backward pass of a step that is looked at has ended."""
        self.cost += self.books.came()

    def root_begins(self, module: Module) -> None:
        self._between.leave()
        if self.window is None or not self.torch.is_grad_enabled() or not inner(module).training:
            # A teacher is asked between a pass and its loss.
            self._followed = self.window is not None and self.capture.mode_on
            self.capture.leave_mode()
        elif self.model.is_new(module):
            self.capture.follows = True
            if not self.torch.compiler.is_compiling() and not self.model.compiled(module):
                self.capture.enter_mode()

    def is_closed(self, module: Module) -> bool:
        """Whether what runs inside a layer is its own business: the cell of a recurrent Keras
        layer, the pieces that a compiler made of a model.
        """
        return self.model.compiled(module) or (
            self._keras_of(module) is not None and hasattr(module, "cell")
        )

    def _keras_of(self, module: Module) -> KerasPart | None:
        """What knows this module, when it is one of Keras."""
        if self.keras is not None and self.keras.owns(module):
            return self.keras
        return None

    def layer_called(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        if self._beyond:
            if self._whole and self.batches.is_loss(module, output):
                self._labels_of_loss(args)
            return
        began = perf_counter()
        if self.model.compiled(module):
            if self.model.is_new(module):
                self.recorder.note_missing("layer outputs and their shapes: the model is compiled")
                for name, part in self.model.parts_of_compiled(module):
                    self.capture.part(name, part)
        elif self.batches.is_loss(module, output):
            trains = self.batches.loss_called(args, kwargs, output, self.in_fit)
            if self._whole and not trains:
                self._labels_of_loss(args)
            if trains and self.model.loss is None:
                loss = module_loss(module, self.model.place_of(module))
                self.model.loss = dict(
                    loss,
                    called=caller(),
                    **self.batches.given_to_loss(),
                )
        elif not self.batches.is_metric(module):
            self._layer(module, args, kwargs, output)
        self.cost += perf_counter() - began

    def _layer(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        self.books.layer_called(module, kwargs)
        info = self.model.layers.get(module)
        evaluating = not self.torch.is_grad_enabled()
        if info is None:
            if not self.capture.follows and not evaluating:
                # Another way through the model than the one that was captured.
                self.model.outputs = None
            keras = self._keras_of(module)
            within = [call.module for call in self.forwards.stack]
            info = (
                self.model.new_layer(module, within) if keras is None else keras.new_layer(module)
            )
        if info is None:
            return
        half = getattr(output, "dtype", None) is self.torch.float16
        if half and "half-precision" not in self.recorder.kinds:
            self.recorder.event("half-precision")
        if self.capture.follows:
            self.capture.layer(module, info, args, kwargs, output)
        window = self.batches.window if evaluating else self.window
        if window is not None and not info.quiet:
            window.output(
                info,
                first_tensor(self.torch, output),
                int(evaluating),
                float(module.training),
            )

    def root_ends(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> str | None:
        began = perf_counter()
        beyond = self._beyond
        keras = self._keras_of(module)
        if keras is not None:
            keras.root_called(module)
        auxiliary = self.batches.is_auxiliary(module, output)
        if self.capture.follows:
            self.capture.end()
            self.model.captured(
                module,
                [entry.module for entry in self.capture.entries],
            )
            if not auxiliary:
                self.model.gave(output)
        kind: str | None = "training" if self.torch.is_grad_enabled() else "evaluation"
        if auxiliary:
            kind = None
        elif kind == "training":
            self.training = float(inner(module).training)
            self._graphs.mark(output, evaluating=not self.training)
            self.batches.training_pass(args, kwargs, self.in_fit)
        else:
            self._evaluated(module, args, kwargs, output)
        if self._followed and not self._beyond:
            self.capture.enter_mode()
        self._followed = False
        took = perf_counter() - began
        if beyond:
            # No part of the price of a look, by which the schedule gives up detail.
            self.recorder.spent += took
        else:
            self.cost += took
            if kind is not None:
                self.cost += self.books.model_called(module, args, kwargs, output)
        return kind

    @property
    def _beyond(self) -> bool:
        """A pass of an evaluation at which only the books look."""
        return self._passes >= PASSES_AN_EVALUATION and not self.torch.is_grad_enabled()

    def _labels_of_loss(self, args: Args) -> None:
        if len(args) > 1 and all(isinstance(one, self.torch.Tensor) for one in args[:2]):
            self.books.judged_by_loss(*args[:2])

    def _evaluated(
        self,
        module: Module,
        args: Args,
        kwargs: Kwargs,
        output: Any,
    ) -> None:
        if not self._beyond:
            self.batches.evaluation_pass(
                module,
                args,
                kwargs,
                output,
                self.model,
                self.in_fit,
            )
        self._passes += 1
        self._whole = self._whole and self._wants_more(module, args, kwargs, output)
        if self._beyond and not self._whole:
            self.forwards.seen_enough()
        elif self._whole and not self.model.compiled(module):
            self._between.follow(output)

    def loss_goes_back(self, tensor: Any) -> None:
        began = perf_counter()
        self._between.leave()
        self.capture.leave_mode()
        self._graphs.goes_back(tensor)
        call, self.capture.loss = self.capture.loss, None
        for axis, shape, place in self.capture.normalized[:4]:
            self.recorder.event(
                "normalized",
                axis=axis,
                shape=shape,
                place=place,
            )
        self.capture.normalized = []
        if self.capture.several is not None and "several-classes" not in self.recorder.kinds:
            held, place = self.capture.several
            self.recorder.event("several-classes", held=held, place=place)
        loss = self.batches.loss_goes_back(
            tensor,
            call,
            self.model.loss is not None,
        )
        self.model.loss = self.model.loss or loss
        self.books.followed(self.capture.take_losses(), self.capture.trail)
        self.books.goes_back(tensor)
        self.capture.forget()
        pair = self.batches.compared_by(tensor)
        if pair is not None:
            known = self.model.loss or {}
            place = known.get("called") or known.get("place")
            self.books.compared(*pair[:2], place)
        self.cost += perf_counter() - began

    def update_begins(
        self,
        parameters: list[Tensor] | None,
        late: bool = False,
        optimizer: Optimizer | None = None,
    ) -> None:
        """Right before the weights move; `late` when the gradients come only with a closure.
        Without `parameters` the program may move all of them by hand.
        """
        began = perf_counter()
        self._optimizer = self._optimizer if optimizer is None else optimizer
        self.capture.leave_mode()
        if self.window is not None:
            moved = self.model.trainable() if parameters is None else parameters
            self.window.before_step(self.model.followed(moved))
            if not late and not self.window.bare:
                self.window.take_gradients()
            self.books.steps(self._optimizer, moved)
        self._late = late
        self._describe()
        if self.recorder.config.weights is not None:
            # Names for what the program holds itself: nothing is copied, and nothing large or on a
            # device is held longer than the program does.
            models = [
                (
                    type(root).__name__,
                    weights.weights_of(root),
                )
                for root in self.model.roots()
            ]
            held = [(name, tensors) for name, tensors in models if tensors]
            self._weights = [] if weights.refusal([tensors for _, tensors in held]) else held
        self.cost += perf_counter() - began

    def update_ends(self) -> tuple[float, ...] | None:
        """Right after the weights moved: rows of the window, and (gradient, weight, update norms,
        accuracy, loss on the labels and on those of other rows) of the whole step.
        """
        window, self.window = self.window, None
        if self._late:
            # The closure brought the first pass: only now is there something to describe.
            self._describe()
        if window is None or window.before is None:
            self.recorder.spent += self.cost
            self.cost = 0.0
            return None
        if self._late:
            window.take_gradients()
        window.after_step()
        accuracy = self.batches.accuracy(window, self.model.from_logits)
        losses = self.batches.label_losses(
            window,
            self.model.loss or {},
        )
        step = self.recorder.step
        tables = self.recorder.tables
        self.books.stepped()
        window.fetch()
        self.books.settled()
        tables["layers"].extend(window.layer_rows(step))
        moved = list(window.parameter_rows(step))
        tables["parameters"].extend(moved)
        share = float(window.raw[accuracy][0]) if accuracy is not None else NAN
        both = window.raw[losses].tolist() if losses is not None else (NAN, NAN)
        return (
            *window.total_norms(),
            norm_of([row[UPDATE_NORM] for row in moved]),
            share,
            *both,
        )

    @property
    def unsettled(self) -> bool:
        """Something is still open after a step: hooks, a mode."""
        return bool(self.forwards.handles) or self.capture.mode_on or self._between.on

    def step_ended(self) -> None:
        """Tidy up after a step and decide whether the next one is looked at."""
        recorder = self.recorder
        self.capture.leave_mode()
        self.capture.forget()
        self._between.leave()
        self.batches.step_ended()
        self._loaders.forget()
        if recorder.config.stop_after is not None and recorder.step >= recorder.config.stop_after:
            ending.stop_here(recorder)
        if recorder.schedule.next(recorder.step) == recorder.step:
            self._open_window()
        else:
            self.forwards.disarm()

    def _open_window(self) -> None:
        """Look at the step that is about to begin."""
        schedule = self.recorder.schedule
        schedule.looked(self.recorder.step)
        self.window = Window(self.torch, schedule)
        self._passes = 0
        self._whole = False
        self.cost += self.books.look_begins()
        self.forwards.arm(PASSES_A_STEP, PASSES_AN_EVALUATION)

    @guarded("exit-weights")
    def _leave_weights(self) -> None:
        if self.recorder.config.weights is not None:
            weights.leave(
                self.torch,
                self.recorder.config.weights,
                self._weights,
            )

    def _describe(self) -> None:
        """Write header and graph when there is something new to say."""
        header = self.model.take_header()
        if header is not None:
            self.recorder.write_header(**header)
        if self.model.take_news(
            len(self.capture.entries),
            self._optimizer,
        ):
            known = self.keras.graph() if self.keras is not None else None
            entries = self.capture.entries
            optimizer = self._optimizer
            self.recorder.write_graph(
                known or self.model.graph(entries, optimizer, self.batch_size())
            )

    def finish(self) -> None:
        """The process ends: close what is open."""
        self.steps.finish()
        if self.recorder.owned:
            self._describe()
            self.books.ends()
            self.write_data(at_end=True)
            self.batches.write_signal()

    def crash_facts(self, error: BaseException) -> Facts:
        """The layer whose forward raised, and what it was given."""
        raised, module, args, kwargs = self.forwards.failed
        if raised is not error:
            return {}
        tensors = [
            value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)
        ]
        return {
            "layer": type(module).__name__,
            "layer_place": self.model.place_of(module),
            "layer_dtype": next(
                (str(weight.dtype) for weight in module.parameters() if weight.is_floating_point()),
                "",
            ),
            "inputs": [
                [
                    list(tensor.shape),
                    str(tensor.dtype),
                    str(tensor.device),
                ]
                for tensor in tensors[:4]
            ],
        }
