"""Small experiments with a program's own model, in a process that ends before its first
optimizer step.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reenact.errors import InputError
from reenact.host_program import Stream
from reenact.probe.answers import NO_KEYBOARD
from reenact.probe.growing import epochs_of
from reenact.probe.json_graph import Json, placed, read_place, typed
from reenact.probe.options import WatchOptions
from reenact.probe.outcome import CUT_OFF, Outcome, OutcomeKind
from reenact.probe.read import read_json_file
from reenact.probe.trace import Experiments, Root
from reenact.probe.watch import program_root, watch
from reenact.program.program import Program
from reenact.types import Stop

NAME = "experiments.json"
ENDED = ".ended"
"""Behind the name of the file of weights: the training is over, whether it left any or not."""
SECONDS = 1.5
EAGER = {"TORCHDYNAMO_DISABLE": "1"}
"""Compiled code cannot be looked into; the same code uncompiled computes the same."""


def run_experiments(
    program: Program,
    folder: Path,
    *,
    python: str = "",
    seed: int | None = None,
    max_time: float | None = None,
    seconds: float = SECONDS,
    share: float = 0.0,
    weights: Path | None = None,
    stand_ins: tuple[str, ...] | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: Stream = NO_KEYBOARD,
    stop: Stop | None = None,
) -> Experiments:
    """Run the program up to its first step and experiment there; `seconds` for each
    experiment, or this `share` of what the training will take, where that can be seen and is more.
    Then wait for the `weights` that a training of it leaves, and test the model with these too.

    It runs where it lies and is ended before its first step: files that it writes before are
    written.
    """
    options = WatchOptions(
        folder,
        "bare",
        seed,
        max_time=max_time,
        interrupts=False,
        experiments=seconds,
        experiment_share=share,
        epochs=epochs_of(program),
        weights=weights,
        python=python,
        stand_ins=stand_ins,
        environment=EAGER | dict(environment or {}),
    )
    watched = watch(
        program,
        options,
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stop=stop,
    )
    return read_experiments(
        watched.folder,
        watched.outcome,
        program_root(program, watched.folder),
    )


def read_experiments(
    folder: Path, outcome: Outcome | None = None, root: Root | None = None
) -> Experiments:
    """What a process left in its trace folder; when it left nothing, how it ended says why."""
    content = read_json_file(folder, NAME)
    if content is None:
        why = "no optimizer was seen to step"
        if outcome is not None and outcome.kind not in (
            OutcomeKind.FINISHED,
            OutcomeKind.NO_TRAINING,
        ):
            why = f"before the first step, {outcome.sentence[:1].lower()}{outcome.sentence[1:]}"
        late = outcome is not None and outcome.kind in CUT_OFF
        return Experiments(
            missing=(f"one-batch and learning-rate tests skipped: {why}",),
            unchecked=("the small experiments",) if late else (),
        )
    try:
        batch = content.get("one_batch")
        wide = content.get("stretched")
        root = root or Root(folder)
        read: dict[str, Any] = {
            "one_batch": dict(
                batch,
                steps=len(batch["losses"]),
            )
            if batch
            else None,
            "behaviour": [_placed(model, root) for model in content.get("behaviour", ())],
            "non_finite_at": read_place(content.get("non_finite_at"), root),
            "terms": [placed(one, root) for one in content.get("terms", ())],
            "stretched": placed(wide, root) if wide else None,
        }
        if outcome is not None and outcome.kind in CUT_OFF:
            left = ["the rest of the small experiments"]
            read["unchecked"] = [*content.get("unchecked", ()), *left]
        return typed(Experiments, {**content, **read})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"The experiments in {folder} are not ones that reenact wrote ({error!r})."
        raise InputError(why) from error


def _placed(model: Json, root: Root) -> Json:
    """A behaviour whose places are places."""
    movers = {name: model[name] for name in ("leak_at", "mixing_at") if model.get(name)}
    read = {
        key: dict(
            one,
            forward=read_place(one.get("forward"), root),
        )
        for key, one in movers.items()
    }
    return {**model, **read}
