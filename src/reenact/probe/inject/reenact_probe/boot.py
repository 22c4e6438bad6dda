"""Starts the probe: reads the options, then waits for the program to import what can be
observed.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from reenact_probe import config as configuration
from reenact_probe import crash, ending, exits, guard, late, metrics, seeds, standin
from reenact_probe.config import Config
from reenact_probe.recorder import Recorder
from reenact_probe.types import Library

_session: Session | None = None


class Session:
    """The running probe of this process."""

    def __init__(self, config: Config, own_process: bool) -> None:
        self.config = config
        self.own_process = own_process
        """The whole process is watched from its start, not a stretch of it."""
        self.recorder = Recorder(config)
        self.torch: Any = None
        self.keras: Any = None
        guard.state.on_error = self._probe_failed

    @guard.guarded("metric")
    def tell_metric(self, name: str, value: Any) -> None:
        """A value that the program itself reports."""
        self.recorder.metric(name, value, "user")

    def _probe_failed(self, sentence: str) -> None:
        self.recorder.event("probe-off", sentence=sentence)
        self.recorder.note_missing(f"{sentence}: nothing after that is recorded")
        self.recorder.flush()


def current() -> Session | None:
    """The session of this process, or none."""
    return _session


@guard.guarded("boot")
def from_environment() -> None:
    """Start when the environment asks for it; called once by the interpreter's start."""
    config = configuration.from_environment()
    if config is not None:
        start(config, own_process=True)


def start(config: Config, own_process: bool = False) -> Session:
    """Begin to observe this process."""
    global _session
    guard.wake()
    session = _session = Session(config, own_process)
    if own_process:
        seeds.install(config.seed)
        if config.shim:
            from reenact_probe import oldkeras

            oldkeras.install(session.recorder)
        if config.stand_ins is not None:
            standin.install(session.recorder.folder, config.stand_ins)
    if configuration.is_rank_zero():
        _observe(session)
    return session


def _observe(session: Session) -> None:
    os.register_at_fork(after_in_child=_forked)
    recorder = session.recorder
    experiments = session.config.experiments is not None
    torch, keras = _torch_imported, _keras_imported
    if experiments:
        torch, keras = _torch_for_experiments, _keras_for_experiments
    else:
        for package in ("lightning.pytorch", "pytorch_lightning"):
            late.when_imported(package, functools.partial(metrics.watch_lightning, recorder))
        late.when_imported("torchmetrics", functools.partial(metrics.watch_torchmetrics, recorder))
    late.when_imported("torch", functools.partial(torch, session))
    late.when_imported("keras", functools.partial(keras, session))
    if session.own_process or experiments:
        ending.at_exit(recorder)
    if session.own_process:
        exits.install()
    if session.own_process and session.config.tap_output and not experiments:
        # While Keras's `fit` runs, its callbacks tell the metrics, and its progress bar only
        # repeats them.
        metrics.tap_output(
            recorder,
            lambda: session.keras is not None and session.keras.in_fit,
        )
        metrics.watch_warnings(recorder)


@guard.guarded("torch")
def _torch_imported(session: Session, torch: Library) -> None:
    from reenact_probe.torch.observer import TorchObserver

    session.recorder.note_framework("torch", torch.__version__)
    session.torch = TorchObserver(torch, session.recorder)
    session.recorder.observers.append(session.torch)


@guard.guarded("keras")
def _keras_imported(session: Session, keras: Library) -> None:
    recorder = session.recorder
    backend = keras.backend.backend()
    recorder.note_framework("keras", keras.__version__)
    crash.keep_before_filter()
    recorder.note_framework("keras backend", backend)
    if backend == "torch" and session.torch is not None:
        from reenact_probe.keras.on_torch import KerasOnTorch

        session.keras = KerasOnTorch(keras, recorder, session.torch)
    else:
        from reenact_probe.keras.observer import KerasObserver

        session.keras = KerasObserver(keras, recorder)
        unseen = f"Keras runs on {backend}, only fit-level facts are seen"
        recorder.note_missing(f"gradients, weights and layer outputs: {unseen}")
    recorder.observers.append(session.keras)


@guard.guarded("experiment-torch")
def _torch_for_experiments(session: Session, torch: Library) -> None:
    from reenact_probe.experiment import TakeOver

    session.torch = TakeOver(torch, session.recorder)


@guard.guarded("experiment-keras")
def _keras_for_experiments(session: Session, keras: Library) -> None:
    from reenact_probe.experiment import refuse_backend

    backend = keras.backend.backend()
    if backend == "torch" and session.torch is not None:
        session.torch.join_keras(keras)
    else:
        refuse_backend(keras, backend, session.recorder)


def end(session: Session, error: BaseException | None = None) -> None:
    """Stop observing a stretch of this process and close its trace."""
    global _session
    ending.close(session.recorder, error)
    guard.stand_down()
    late.forget()
    _session = None


def _forked() -> None:
    """A child made by fork (a data-loading worker) records nothing."""
    was_asleep, guard.state.asleep = guard.state.asleep, True
    if not was_asleep and _session is not None and _session.torch is not None:
        ending.note_training(_session.recorder.folder)
