"""What every rule must fulfil: complete documentation, a bad example on which it fires, a good one on which
it is silent. `complaints(rule)` lists what is wrong with one. Every program is executed once: in a fork of a
process that has done the imports, and kept for the next rule that asks."""

import atexit
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from reenact.probe.experiment import run_experiments
from reenact.probe.outcome import Outcome
from reenact.probe.read import is_trace
from reenact.probe.trace import Experiments
from reenact.program.program import Program, program_from_text, read_program
from reenact.program.static_graph import static_graph
from reenact.rules.evidence import Evidence
from reenact.rules.finding import Finding, Severity
from reenact.rules.reading import reading
from reenact.rules.rule import Needs, Rule, run_rules
from reenact.trials.pool import ProcessPool
from reenact.trials.reading import read_kept
from reenact.trials.trial import Trial

SECONDS = 2.0
"""CPU time of each small experiment: examples are small, but a busy machine is slow."""
RUN = Needs.GRAPH | Needs.TRACE | Needs.EXPERIMENTS | Needs.CRASH


def findings(rule: Rule, source: str) -> tuple[Finding, ...]:
    """What a rule says of a program text; the program is run only when the rule needs it."""
    tried = bool(rule.needs & Needs.EXPERIMENTS)
    return run_rules((rule,), evidence_of(source, run=bool(rule.needs & RUN), experiments=tried))


def findings_beside(rule: Rule, others: Iterable[Rule]) -> tuple[Finding, ...]:
    """What other rules, as severe as this one or more so, say of its good example when it is run."""
    source = reading(rule).sections["Instead"]
    evidence = evidence_of(source, run=True, experiments=bool(rule.needs & Needs.EXPERIMENTS))
    severities = list(Severity)
    severe = severities[: severities.index(rule.severity) + 1]
    found = run_rules((other for other in others if other.code != rule.code), evidence)
    return tuple(finding for finding in found if finding.severity in severe)


def evidence_of(source: str, *, run: bool, experiments: bool = False) -> Evidence:
    """Everything about a program text; programs that were run once are not run again."""
    program = program_from_text(source)
    if not run:
        return Evidence(program, static_graph(program))
    evidence = _watched(source)
    return replace(evidence, experiments=_tried(source)) if experiments else evidence


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
        ended = Outcome(ran.kind, crash=ran.crash, note=ran.note)
        return Evidence(program, static_graph(program), trace, ended)


@cache
def _pool() -> ProcessPool:
    """One fork server for all examples of this process: each saves seconds of imports."""
    pool = ProcessPool(1)
    atexit.register(pool.close)
    return pool


@cache
def _tried(source: str) -> Experiments:
    environment = {"KERAS_BACKEND": os.environ.get("KERAS_BACKEND", "torch"), "OMP_NUM_THREADS": "1"}
    with _written(source) as program:
        trace = program.folder / "trace"
        return run_experiments(program, trace, seed=0, seconds=SECONDS, environment=environment)


def complaints(rule: Rule) -> list[str]:
    """What is wrong with a rule, in sentences; empty when nothing is."""
    text = reading(rule)
    found = [f"{rule.code}: section {name} is missing." for name in text.missing()]
    if found:
        return found
    fired = findings(rule, text.sections["Example"])
    if not any(finding.code == rule.code for finding in fired):
        found.append(f"{rule.code}: its bad example does not make it fire.")
    for finding in findings(rule, text.sections["Instead"]):
        found.append(f"{rule.code}: it fires on its good example: {finding.saw}")
    found += [f"{rule.code}: a finding without observation." for finding in fired if not finding.saw]
    return found
