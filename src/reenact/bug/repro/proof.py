"""What is handed over is proven before it is given: on every revision, the program and the test as a
maintainer runs them, and the judgement of `reenact judge`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from pydantic import ConfigDict

from reenact.bug.generate import Case
from reenact.bug.repro.facts import ReproFacts
from reenact.bug.repro.judged import Judgement, judged
from reenact.bug.script_runner import Revision, Tried
from reenact.journal import Kind, Scope

EXPECTED = {"buggy": Judgement.SHOWS, "fixed": Judgement.DOES_NOT_SHOW}
"""What is to come of it on each revision."""


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What is written for one revision, which decides the form of calls that a fix changes."""

    program: str
    test: str
    """Empty where none can be written."""
    facts: ReproFacts


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of it on one revision."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    code: int | None
    """Of `reenact judge`; 125 too where the program alone ends otherwise. None where something
    stopped it each time: that says nothing.
    """
    test_failed: bool | None
    """None where there is no test."""
    why: str
    """What was judged, in a sentence."""


def prove(case: Case, given: Mapping[str, HandedOver], run: Scope) -> Mapping[str, Proof]:
    """What came of it on each revision."""
    revisions = {"buggy": case.buggy, "fixed": case.fixed}
    found: dict[str, Proof] = {}
    for name, revision in revisions.items():
        if revision is None:
            continue
        inputs: dict[str, object] = {
            "repro": given[name].program,
            "test": given[name].test,
            "facts": given["buggy"].facts.text(),
            "revision": revision.identity,
            "environment": case.runner.environment.key,
            "limits": case.runner.bounds,
        }
        prove_one = partial(_proof, case, given[name], given["buggy"], revision)
        # A proof that something stopped each time is tried again by the same command.
        found[name] = run.step(
            f"repro-{name}",
            prove_one,
            kind=Kind.BOX,
            inputs=inputs,
            returns=Proof,
            still=lambda proof: proof.code is not None,
        )
    return found


def _proof(case: Case, handed: HandedOver, written: HandedOver, revision: Revision) -> Proof:
    tried = case.runner.try_out(handed.program, handed.test, revision)
    if tried is Tried.STOPPED:
        return Proof(None, None, "it was stopped each time")
    one = judged(written.program, written.facts, revision, case.runner)
    code = int(one.judgement)
    fails = tried.program_failed
    if fails is None or fails is not (one.judgement is Judgement.SHOWS):
        code = int(Judgement.CANNOT_BE_RUN)
    return Proof(code, tried.test_failed if handed.test else None, one.sentence)
