"""What every fault must fulfil: a complete page, a bad example on which one of its detectors fires,
a good one on which all of them are silent. `complaints(fault)` lists what is wrong with one. Every
program is executed once: in a fork of a process that has done the imports, and kept for whatever
asks next.
"""

import atexit
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from reenact.diagnosis.fixes.scratch import Length, Scratch
from reenact.diagnosis.fixes.text import TextCheck
from reenact.diagnosis.fixes.tried import try_edits
from reenact.diagnosis.fixes.tried import with_fixes as tried
from reenact.faults.detector import Detector, Needs, run_detectors
from reenact.faults.entry import FaultEntry
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.fix import FixTried
from reenact.faults.page import page_of
from reenact.faults.registry import chosen, detectors_of
from reenact.probe.experiment import run_experiments
from reenact.probe.outcome import Outcome
from reenact.probe.read import is_trace
from reenact.probe.trace import Experiments
from reenact.program.program import Program, program_from_text, read_program
from reenact.program.static_graph import static_graph
from reenact.trials.pool import ProcessPool
from reenact.trials.reading import read_kept
from reenact.trials.trial import Trial
from reenact.types import Stop

UNLIMITED = 3600.0
"""Wall time of a run that is not to be judged by its clock."""
SECONDS = 2.0
"""CPU time of each small experiment: examples are small, but a busy machine is slow."""
RUN = Needs.GRAPH | Needs.TRACE | Needs.EXPERIMENTS | Needs.CRASH | Needs.ACCOUNTS


def findings(
    detectors: Detector | Sequence[Detector],
    source: str,
) -> tuple[Finding, ...]:
    """What detectors say of a program text; the program is run only when one of them needs it."""
    asked = (detectors,) if isinstance(detectors, Detector) else tuple(detectors)
    return run_detectors(asked, evidence_for(asked, source))


def evidence_for(detectors: Iterable[Detector], source: str) -> Evidence:
    """As much about a program text as these detectors need."""
    needs = [one.needs for one in detectors]
    tried = any(need & Needs.EXPERIMENTS for need in needs)
    return evidence_of(
        source,
        run=any(need & RUN for need in needs),
        experiments=tried,
    )


def evidence_of(source: str, *, run: bool, experiments: bool = False) -> Evidence:
    """Everything about a program text; programs that were run once are not run again."""
    program = program_from_text(source)
    if not run:
        return Evidence(program, static_graph(program))
    evidence = _watched(source)
    if experiments:
        return replace(evidence, experiments=_tried(source))
    return evidence


@contextmanager
def _written(source: str) -> Iterator[Program]:
    """The program in a folder of its own for a while."""
    with tempfile.TemporaryDirectory(prefix="reenact-example-") as scratch:
        script = Path(scratch) / "train.py"
        script.write_text(source, encoding="utf-8")
        yield read_program((str(script),), Path(scratch))


@cache
def _watched(source: str) -> Evidence:
    with _written(source) as program:
        trial = Trial(program, preset="deep", keep_trace=True)
        (ran,) = _pool().run([trial])
        trace = read_kept(trial, ran) if ran.trace is not None and is_trace(ran.trace) else None
        ended = Outcome(
            ran.kind,
            crash=ran.crash,
            note=ran.note,
        )
        return Evidence(program, static_graph(program), trace, ended)


@cache
def _pool() -> ProcessPool:
    """One fork server for all examples of this process: each saves seconds of imports."""
    pool = ProcessPool(1)
    atexit.register(pool.close)
    return pool


@cache
def _tried(source: str) -> Experiments:
    environment = {
        "KERAS_BACKEND": os.environ.get("KERAS_BACKEND", "torch"),
        "OMP_NUM_THREADS": "1",
    }
    with _written(source) as program:
        trace = program.folder / "trace"
        return run_experiments(
            program,
            trace,
            seed=0,
            seconds=SECONDS,
            environment=environment,
        )


def with_fixes(detector: Detector, source: str, *, run: bool) -> tuple[Finding, ...]:
    """What a detector says of a program text, each finding with the fix that it comes to: as a
    diagnosis tries it where it is run, else as the text shows it.
    """
    found = findings(detector, source)
    detectors = tuple(dict.fromkeys((*chosen(), detector)))
    with _written(source) as program:
        check = TextCheck(program, detectors)
        if not run:
            return tuple(check.fixed(one, FixTried.NOT_RUN) for one in found)
        scratch = Scratch(
            replace(evidence_for((detector,), source), program=program),
            _pool(),
            partial(run_detectors, detectors),
            Length(UNLIMITED, experiments=SECONDS),
            Stop(),
        )
        fixed = tried(found, check, partial(try_edits, check=check, scratch=scratch))
        return tuple(fixed.get(one.key, one) for one in found)


def complaints(fault: FaultEntry, detectors: Sequence[Detector] = ()) -> list[str]:
    """What is wrong with a fault, in sentences; empty when nothing is. `detectors` are given for
    one that is not registered yet.
    """
    own = detectors or detectors_of(fault)
    page = page_of(fault)
    found = [f"{fault.code}: section {name} is missing." for name in page.missing()]
    if not own:
        found.append(f"{fault.code}: no detector looks for it.")
    return found or pair_complaints(
        fault.code, own, page.sections["Example"], page.sections["Instead"]
    )


def pair_complaints(
    code: str,
    detectors: Sequence[Detector],
    example: str,
    instead: str,
) -> list[str]:
    """What is wrong with a pair of programs: a detector fires on the bad one, none fires on the
    good one.
    """
    fired = findings(detectors, example)
    found = [] if fired else [f"{code}: its bad example makes no detector fire."]
    for one in fired:
        if not one.saw:
            found.append(f"{code}: a finding of {one.code} without observation.")
    silent = findings(detectors, instead)
    return [
        *found,
        *(f"{code}: {one.code} fires on its good example: {one.saw}" for one in silent),
    ]
