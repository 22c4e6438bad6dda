"""Takes over the program just before its first optimizer step, does small experiments with it, and
ends it.

Until then the program runs as it is. What the first step would have lowered is on the tape by then,
with the weights as they were made. The program never goes on: its first step, its files and its
results do not come. Nothing else is recorded in such a process. It may wait for the weights that
the training itself ends with.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from reenact_probe import ending, guard, weights
from reenact_probe.clock import CLOCK
from reenact_probe.experiment import labels, trials
from reenact_probe.experiment.behaviour import MOST_PASSES, Subject
from reenact_probe.experiment.senses import Pass, look_at_keras
from reenact_probe.experiment.tape import Tape, Unseen, make_mode, tensors_in
from reenact_probe.experiment.terms import terms_of_loss
from reenact_probe.experiment.trials import (
    Budget,
    KerasOptimizer,
    Pair,
    Problem,
    TorchOptimizer,
)
from reenact_probe.guard import after, before, guarded, patch, state, when_made
from reenact_probe.keras.observer import base_optimizer, definer
from reenact_probe.recorder import Recorder
from reenact_probe.torch.capture import LOSSES
from reenact_probe.torch.facts import inner
from reenact_probe.torch.steps import memory
from reenact_probe.types import (
    Args,
    Facts,
    Function,
    Kwargs,
    Library,
    Module,
    Optimizer,
    Tensor,
)

NAME = "experiments.json"
"""Written whenever there is more: anyone who waits for the rest may stop waiting."""
WAITING = "waiting"
"""A file that says: all experiments are done but those that need the weights of the end."""
MOST_HELD = 1500
"""MB that a process which only waits may hold."""
MOST_TAPED = 800
"""MB up to which it keeps the tape of the loss."""
START = "start"
ONE_BATCH = "one batch"
END = "end"
"""When the terms of the loss are looked at."""
_NOT_AT_END = "no tests of the model's behaviour at the end"
_NOT_INPUTS = ("label", "target", "mask", "y_true")
"""Words in the name of an argument that is not an input."""


class TakeOver:
    """One per process. Waits for the first step of torch's or Keras's optimizer."""

    def __init__(self, torch: Library, recorder: Recorder) -> None:
        self.torch = torch
        self.recorder = recorder
        self.seconds = float(recorder.config.experiments or 0)
        self.tape = Tape(torch)
        self.inputs = Inputs(torch, self.tape)
        self.pairs: list[Pair] = []
        self._losses: list[Tensor] = []
        self._optimizers: list[Any] = []
        self._clips: list[Function] = []
        self._scaled: tuple[Tensor, Tensor] | None = None
        self._test_keras: Callable[[], Facts] | None = None
        self._targets: list[Tensor] = []
        self._problem: Problem | None = None
        """The loss of the first batch, once it could be played again."""
        self._stepping: Optimizer | None = None
        """An optimizer that was asked to step before its loss went backward: it was given a
        closure.
        """
        optim = importlib.import_module("torch.optim.optimizer")
        before(torch.autograd, "backward", self._goes_back)
        after(torch.autograd, "backward", self._went_back)
        after(torch.amp.GradScaler, "scale", self._loss_scaled)
        # A scaler that finds infinite gradients never lets the optimizer step.
        before(
            torch.amp.GradScaler,
            "step",
            lambda _, optimizer, *__, **___: self._before_step(optimizer),
        )
        when_made(optim.Optimizer, self._optimizer_made)
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            before(
                torch.nn.utils,
                name,
                functools.partial(self._clipped, getattr(torch.nn.utils, name)),
            )
        state.undo.append(optim.register_optimizer_step_pre_hook(self._before_step).remove)
        # Never left: it was entered before any mode of the program, so it lies under all of them.
        make_mode(torch, self.tape).__enter__()

    def join_keras(self, keras: Library) -> None:
        """Keras on torch has its own optimizers, losses and layers; on another backend there is
        no tape.
        """

        def fit_begins(*args: Any, **kwargs: Any) -> None:
            self._test_keras = lambda: look_at_keras(keras, *args, **kwargs)

        when_made(base_optimizer(), self._optimizer_made)
        before(base_optimizer(), "apply", self._before_apply)
        before(keras.losses.Loss, "__call__", self._compared)
        before(definer(keras.Model, "fit"), "fit", fit_begins)
        patch(keras.layers.Layer, "__call__", self.inputs.wrap_call)

    def _clipped(
        self,
        clip: Function,
        _: Any,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        self._clips.append(lambda weights: clip(weights, *args, **kwargs))

    def _optimizer_made(self, optimizer: Optimizer) -> None:
        self._optimizers.append(weakref.ref(optimizer))

    def _loss_scaled(self, scaled: Tensor, _: Any, outputs: Tensor) -> None:
        self._scaled = (scaled, outputs)

    @guarded("experiment-loss")
    def _compared(
        self,
        loss: Any,
        y_true: Any,
        y_pred: Any,
        *args: Any,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        if all(isinstance(value, self.torch.Tensor) for value in (y_true, y_pred)):
            logits = bool(loss.get_config().get("from_logits"))
            self.pairs = [
                *self.pairs[-32:],
                Pair(y_pred, y_true, logits, True),
            ]

    @guarded("experiment-backward")
    def _goes_back(self, tensors: Any, *_: Any, **__: Any) -> None:
        loss = tensors if isinstance(tensors, self.torch.Tensor) else tensors[0]
        self._losses.append(self._scaled[1] if self._scaled and self._scaled[0] is loss else loss)

    @guarded("experiment-backward")
    def _went_back(self, *_: Any, **__: Any) -> None:
        if self._stepping is not None:
            self.take_over(lambda: TorchOptimizer(self._stepping, self._clips))
        elif not any(made() is not None for made in self._optimizers):
            self.take_over(None)

    @guarded("experiment-step")
    def _before_step(self, optimizer: Optimizer, *_: Any) -> None:
        if self._losses:
            self.take_over(lambda: TorchOptimizer(optimizer, self._clips))
        else:
            self._stepping = optimizer

    @guarded("experiment-step")
    def _before_apply(
        self,
        optimizer: Optimizer,
        grads: Any,  # noqa: ARG002
        trainable_variables: Any = None,
    ) -> None:
        given = (
            optimizer._trainable_variables if trainable_variables is None else trainable_variables
        )
        self.take_over(lambda: KerasOptimizer(self.torch, optimizer, given))

    def take_over(
        self, make_optimizer: Callable[[], TorchOptimizer | KerasOptimizer] | None
    ) -> None:
        """The experiments, and the end of the process."""
        if not self.recorder.owned:
            return
        self.tape.open = False
        guard.stand_down()
        # Small work is not done faster by many threads, and what it takes can be seen with one alone.
        self.torch.set_num_threads(1)
        CLOCK.measure()
        facts: Facts = {
            "missing": [],
            "unchecked": [],
            "non_finite_at": self.tape.non_finite_at,
        }
        try:
            self._look_at_behaviour(facts)
            self.recorder.folder.write_json(NAME, facts)
            self._experiment(facts, make_optimizer)
        except Unseen as reason:
            facts["missing"].append(f"one-batch and learning-rate tests skipped: {reason}")
        except Exception as error:  # noqa: BLE001 - the program's own code runs here, and may do anything
            facts["missing"].append(
                f"no further experiments: {type(error).__name__}: {error}"[:500]
            )
        if self.recorder.config.weights is not None:
            self._look_at_the_end(facts, self.recorder.config.weights)
        give(self.recorder, facts)

    def _look_at_behaviour(self, facts: Facts) -> None:
        calls = [call for call in self.tape.calls[::-1] if call.name in LOSSES]
        pairs = (
            *self.pairs,
            *(trials.pair_of_call(self.torch, call) for call in calls),
        )
        self._targets += [pair.target for pair in pairs if pair is not None]
        facts["behaviour"] = []
        try:
            facts["behaviour"] += self._behave(list(self.inputs.passes.values()), facts)
            if self._test_keras is not None:
                with self.torch.no_grad():
                    facts["behaviour"].append(self._test_keras())
        except Exception as error:  # noqa: BLE001 - the program's own code runs here, and may do anything
            facts["missing"].append(_no_tests(error))

    def _behave(
        self,
        passes: list[Pass],
        facts: Facts,
        at_end: bool = False,
    ) -> list[Facts]:
        batch = self.inputs.batch
        padding = self.inputs.padding
        CLOCK.measure()
        until = CLOCK.now() + self.seconds
        tested = [
            Subject(self.torch, call, batch, until, padding) for call in passes[-MOST_PASSES:]
        ]
        targets = self._targets[:8]
        found = [subject.facts(targets, at_end) for subject in tested if subject.in_time()]
        if any(subject.was_late for subject in tested):
            facts["unchecked"].append(f"how the model behaves{' at the end' if at_end else ''}")
        return found

    def _look_at_the_end(self, facts: Facts, path: str) -> None:
        """Wait for the end of the training next to, and test its weights: at the start the output
        may be all zero.
        """
        missing = facts["missing"]
        try:
            passes = list(self.inputs.passes.values())
            self._forget()
            refusal = self._cannot_wait(passes)
            missing.append(f"{_NOT_AT_END}: {refusal or 'the training left no weights'}")
            self.recorder.folder.write_json(NAME, facts)
            if refusal:
                return
            self.recorder.folder.write_json(WAITING, {})
            if weights.wait(path):
                left = self.torch.load(path, weights_only=True)
                passes = [
                    call
                    for call in passes
                    if weights.restore(
                        self.torch,
                        inner(call.module),
                        left,
                    )
                ]
                facts["behaviour"] += self._behave(passes, facts, at_end=True)
                missing[-1:] = [] if passes else [f"{_NOT_AT_END}: another model was trained"]
                self._look_at_loss(facts, passes)
        except Exception as error:  # noqa: BLE001 - the program's own code runs here, and may do anything
            missing.append(_no_tests(error, " at the end"))

    def _look_at_loss(self, facts: Facts, passes: list[Pass]) -> None:
        """Where all weights that the optimizer moves are those of the end."""
        restored = {id(weight) for call in passes for weight in call.module.parameters()}
        problem = self._problem
        if problem is not None and all(id(weight) in restored for weight in problem.weights):
            self._look_at_terms(facts, problem, END)
            facts["modes"] = labels.by_mode(problem)
            if all(tested.get("shift") is None for tested in facts["behaviour"]):
                facts["permuted"] = labels.permuted(
                    problem,
                    self.inputs.batch,
                    self.seconds,
                )

    def _look_at_terms(
        self,
        facts: Facts,
        problem: Problem,
        when: str,
    ) -> None:
        """Later experiments make the same random draws as without it."""
        state_of_chance = self.torch.get_rng_state()
        try:
            seen = terms_of_loss(problem, when)
            facts["terms"] += [seen] if seen else []
        except Exception as error:  # noqa: BLE001 - the program's own code runs here, and may do anything
            facts["missing"].append(f"terms of the loss: {type(error).__name__}: {error}"[:300])
        finally:
            self.torch.set_rng_state(state_of_chance)

    def _forget(self) -> None:
        """Let go of what only the experiments needed: the training goes on next to."""
        self.pairs.clear()
        for call in self.inputs.passes.values():
            call.module.zero_grad()
        if self._problem is not None:
            self._problem.let_go()
        gc.collect()
        if self._problem is None or memory() > MOST_TAPED:
            self._problem = None
            self._losses.clear()
            self.tape.forget()
            gc.collect()

    def _cannot_wait(self, passes: list[Pass]) -> str:
        """Why this process cannot wait for weights; empty where it can."""
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            return "the program trains in several processes"
        held = memory()
        if held > MOST_HELD:
            return f"waiting would hold {held:.0f} MB of memory, more than {MOST_HELD} MB"
        return weights.refusal([weights.weights_of(inner(call.module)) for call in passes])

    def _experiment(
        self,
        facts: Facts,
        make_optimizer: Callable[[], TorchOptimizer | KerasOptimizer] | None,
    ) -> None:
        if any(loss.numel() != 1 for loss in self._losses):
            raise Unseen("what goes backward is not a single number")
        optimizer = make_optimizer() if make_optimizer is not None else None
        held = [
            t for call in self.tape.calls for t in call.tensors() if t.requires_grad and t.is_leaf
        ]
        moved = (
            optimizer.weights if optimizer is not None else list({id(t): t for t in held}.values())
        )
        self._refuse_rivals(moved)
        problem = Problem(
            self.torch,
            self.tape,
            self._losses,
            moved,
            self.pairs,
        )
        facts["terms"] = []
        self._look_at_terms(facts, problem, START)
        facts["stretched"] = labels.stretched(problem, self.inputs.batch)
        facts["padding_counted"] = labels.padding_counted(
            problem, self.inputs.padding, self.inputs.padded
        )
        config = self.recorder.config
        budget = Budget(
            self.seconds,
            config.experiment_share,
            config.epochs * self.inputs.batches,
        )
        CLOCK.measure()
        facts["one_batch"], price, missing = trials.one_batch(
            problem,
            budget,
            lambda: self._look_at_terms(facts, problem, ONE_BATCH),
        )
        facts["missing"] += [missing] if missing else []
        facts["unchecked"] += ["whether one batch can be learned"] if missing else []
        self.recorder.folder.write_json(NAME, facts)
        refusal = (
            "range of rates: the program moves its weights by hand" if optimizer is None else ""
        )
        if optimizer is not None:
            CLOCK.measure()
            facts["learning_rates"], refusal = trials.rate_range(problem, optimizer, budget, price)
            if refusal and not optimizer.refuses:
                facts["unchecked"].append("which learning rates are usable")
            if facts["learning_rates"] is not None:
                self.recorder.folder.write_json(NAME, facts)
                tested = facts["learning_rates"]
                facts["own_rate"] = trials.own_rate(
                    problem,
                    optimizer,
                    tested,
                    budget,
                    price,
                )
        facts["missing"] += [refusal] if refusal else []
        self._problem = problem

    def _refuse_rivals(self, weights: list[Tensor]) -> None:
        """Two optimizers with weights of their own: one batch of one of them is half of a game."""
        ours = {id(weight) for weight in weights}
        for made in self._optimizers:
            groups = getattr(made(), "param_groups", None) or ()
            theirs = {id(weight) for group in groups for weight in group["params"]}
            if theirs - ours:
                raise Unseen(
                    "the program trains with several optimizers, each with weights of its own"
                )


def give(recorder: Recorder, facts: Facts) -> None:
    """Write what was found and end the process."""
    if recorder.owned:
        recorder.folder.write_json(NAME, facts)
        ending.stop_here(recorder)


def refuse_backend(keras: Library, backend: str, recorder: Recorder) -> None:
    """Keras on a backend other than torch: test how the model behaves when it begins to train, and
    say that no more can be done.
    """
    reason = (
        f"one-batch and learning-rate tests skipped: Keras runs on {backend}, and only torch "
        "can be played again"
    )

    def begins(*args: Any, **kwargs: Any) -> None:
        facts: Facts = {"missing": [reason]}
        try:
            facts["behaviour"] = [look_at_keras(keras, *args, **kwargs)]
        except Exception as error:  # noqa: BLE001 - the program's own code runs here, and may do anything
            facts["missing"].append(_no_tests(error))
        give(recorder, facts)

    for name in ("fit", "train_on_batch"):
        before(definer(keras.Model, name), name, begins)


def _no_tests(error: Exception, when: str = "") -> str:
    return f"no tests of the model's behaviour{when}: {type(error).__name__}: {error}"[:300]


class Inputs:
    """Follows how modules are nested. A loss is a module too, but has no weights."""

    def __init__(self, torch: Library, tape: Tape) -> None:
        self.torch = torch
        self.tape = tape
        self.passes: dict[int, Pass] = {}
        """The last call from outside of each model of torch, by identity."""
        self.batch: list[Tensor] = []
        """The last batch that a loader gave."""
        self.batches = 0
        """Of one round of that loader; 0 where that is not known."""
        self.padding: float | None = None
        """What the program fills rows up with."""
        self.padded: tuple[int, ...] = ()
        """Shape of the last rows that were filled up."""
        self._depth = 0
        self._found = False
        self._thread = threading.get_ident()
        after(
            torch.utils.data.dataloader._BaseDataLoaderIter,
            "__next__",
            self._batch_given,
        )
        after(torch.nn.utils.rnn, "pad_sequence", self._padded)
        # Module hooks get no keyword arguments, and Keras's layers do not run them.
        patch(torch.nn.Module, "__call__", self.wrap_call)

    def wrap_call(self, original: Function) -> Function:
        """Note how a module is called from outside."""

        def __call__(module: Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not self.tape.open or threading.get_ident() != self._thread:
                return original(module, *args, **kwargs)
            self._enter(module, args, kwargs)
            self._depth += 1
            try:
                return original(module, *args, **kwargs)
            finally:
                self._depth -= 1

        return __call__

    @guarded("experiment-forward")
    def _enter(self, module: Module, args: Args, kwargs: Kwargs) -> None:
        # A Keras layer may make its weights only when it is called; Keras's losses are not layers.
        keras = hasattr(module, "stateless_call")
        weighty = keras or next(module.parameters(), None) is not None
        if not self._depth:
            self._found = False
            if weighty and not keras and self.torch.is_grad_enabled():
                self.passes.pop(id(module), None)
                self.passes[id(module)] = Pass(module, args, kwargs)
        if self._found or not self.torch.is_grad_enabled() or not weighty:
            return
        named = {
            key: value
            for key, value in kwargs.items()
            if not any(word in key for word in _NOT_INPUTS)
        }
        for tensor in tensors_in((args, named)):
            if tensor.device.type != "meta" and tensor.dtype is not self.torch.bool:
                self.tape.add_input(tensor)
                self._found = True

    @guarded("experiment-loader")
    def _batch_given(self, batch: Any, loader: Any) -> None:
        self.batch = list(tensors_in(batch))
        try:
            self.batches = len(loader)
        except TypeError:
            # A stream has no length.
            self.batches = 0

    @guarded("experiment-padding")
    def _padded(
        self,
        rows: Tensor,
        *args: Any,
        padding_value: float = 0.0,
        **__: Any,
    ) -> None:
        self.padded = tuple(rows.shape)
        # Sequences, whether rows come first, and what they are filled up with.
        self.padding = args[2] if len(args) > 2 else padding_value
