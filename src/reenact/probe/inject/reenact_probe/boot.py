"""Starts the probe: reads the wishes, then waits for the program to import what can be observed."""

from __future__ import annotations

import functools
import os

from reenact_probe import config as configuration
from reenact_probe import ending, guard, late
from reenact_probe.recorder import Recorder

_session = None


class Session:
    """The running probe of this process."""

    def __init__(self, config, own_process):
        self.config = config
        self.own_process = own_process
        """The whole process is watched from its start, not a stretch of it."""
        self.recorder = Recorder(config)
        self.parts = []
        self.torch = None
        self.keras = None
        guard.state.on_error = self._probe_failed

    @property
    def keras_drives(self):
        """Keras's `fit` runs: its callbacks tell the metrics, its progress bar only repeats them."""
        return self.keras is not None and self.keras.in_fit

    def tell_metric(self, name, value):
        """A value that the program itself tells; guarded like everything the program can enter."""
        if not guard.state.asleep:
            self._metric(name, value)

    @guard.guarded("metric")
    def _metric(self, name, value):
        self.recorder.metric(name, value, "user")

    def _probe_failed(self, sentence):
        self.recorder.event("probe-off", sentence=sentence)
        self.recorder.note_missing(f"{sentence}: nothing after that is recorded")
        self.recorder.flush()


def current():
    """The session of this process, or none."""
    return _session


def from_environment():
    """Start when the environment asks for it; called once by the interpreter's start."""
    _guarded_start()


@guard.guarded("boot")
def _guarded_start():
    config = configuration.from_environment()
    if config is not None:
        start(config, own_process=True)


def start(config, own_process=False):
    """Begin to observe this process."""
    global _session
    guard.wake()
    session = _session = Session(config, own_process)
    if own_process and config.note_opened:
        from reenact_probe import opened

        opened.install(config.folder)
    if own_process:
        from reenact_probe import seeds

        seeds.install(config.seed)
    if own_process and config.shim:
        from reenact_probe import oldkeras

        oldkeras.install(session)
    if configuration.is_rank_zero():
        _observe(session, own_process)
    return session


def _observe(session, own_process):
    os.register_at_fork(after_in_child=_forked)
    if session.config.experiments is not None:
        late.when_imported("torch", _torch_for_experiments)
        late.when_imported("keras", _keras_for_experiments)
        ending.Ending(session)
        return
    late.when_imported("torch", _torch_imported)
    late.when_imported("keras", _keras_imported)
    for package in ("lightning.pytorch", "pytorch_lightning"):
        late.when_imported(package, functools.partial(_lightning_imported, package))
    late.when_imported("torchmetrics", _torchmetrics_imported)
    if own_process:
        ending.Ending(session)
        if session.config.tap_output:
            from reenact_probe import output

            output.install(session)


@guard.guarded("torch")
def _torch_imported(torch):
    from reenact_probe.torch_watch import TorchWatch

    session = _session
    session.recorder.note_framework("torch", torch.__version__)
    session.torch = TorchWatch(torch, session.recorder)
    session.parts.append(session.torch)


@guard.guarded("keras")
def _keras_imported(keras):
    from reenact_probe.keras_watch import KerasWatch

    session = _session
    session.recorder.note_framework("keras", keras.__version__)
    session.keras = KerasWatch(keras, session)
    session.parts.append(session.keras)


@guard.guarded("experiment-torch")
def _torch_for_experiments(torch):
    from reenact_probe.experiment import TakeOver

    _session.torch = TakeOver(torch, _session)


@guard.guarded("experiment-keras")
def _keras_for_experiments(keras):
    from reenact_probe.experiment import refuse_backend

    backend = keras.backend.backend()
    if backend == "torch" and _session.torch is not None:
        _session.torch.join_keras(keras)
    else:
        refuse_backend(keras, backend, _session.recorder)


@guard.guarded("lightning-import")
def _lightning_imported(package, module):
    from reenact_probe.lightning_watch import LightningWatch

    _session.recorder.note_framework("lightning", module.__version__)
    LightningWatch(package, _session.recorder)


@guard.guarded("torchmetrics-import")
def _torchmetrics_imported(module):
    from reenact_probe.torchmetrics_watch import TorchmetricsWatch

    TorchmetricsWatch(module, _session.recorder)


def end(session, error=None):
    """Stop observing a stretch of this process and close its trace."""
    global _session
    ending.close(session, error)
    guard.stand_down()
    late.forget()
    _session = None


def _forked():
    """A child made by fork (a data-loading worker) records nothing."""
    was_asleep, guard.state.asleep = guard.state.asleep, True
    if not was_asleep and _session is not None and _session.torch is not None:
        from reenact_probe import forked

        forked.listen(_session.recorder.folder)
