"""What execution makes of the claims of a model: the gates, a fix by somebody who has not seen the
first, two who look for a reason to leave the code as it is, the effect over fresh seeds.

At most two claims are tested, each with at most four requests: a revision where execution could not
confirm it, the second fix, two doubts. What is left untested is listed. Edits and checks run in the
sandbox only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from reenact.asking import ask
from reenact.claims.claim import Claim
from reenact.claims.verdict import ClaimStatus, ClaimVerdict, Gate, GateName
from reenact.diagnosis.hypothesis import HypothesisOptions, Tester, with_answers
from reenact.diagnosis.llm_detector import numbered
from reenact.diagnosis.options import TrainingOptions
from reenact.diagnosis.proposals.context import entries_of
from reenact.diagnosis.proposals.proposed import (
    Proposals,
    Proposed,
    claim_of,
    rules_of_checks,
)
from reenact.diagnosis.proposals.refuters import DOUBTS, Refuters
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import AnswerUnusable, PatchRefused, SandboxUnavailable, TimeSpent
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding, finding_of
from reenact.faults.fix import Fix, FixSafety, FixTried
from reenact.faults.observation import Certainty, Observation, Observes, Severity, Suggestion
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.program.program import Program

TESTED = 2
"""Claims that are tested."""
MOST_REQUESTS = 1 + TESTED * (2 + DOUBTS)
"""Next to the open question: one about the books, and for each claim a revision, a second fix, doubts."""
MOST_ENTRIES = 6000
CODE = "MD101"
NAME = "tested-claim"
FAMILY = "model"
PROVEN_CLAIM, LIKELY_CLAIM = 0.95, 0.8
"""Confidence of a finding that is a claim; no one has measured these yet."""
NOT_TESTED = "it was left untested: the two surest claims were tested"


@dataclass(frozen=True)
class Jury:
    """Anyone who is asked about a claim, and what executes it."""

    program: Program
    text: str
    """The program as prompts show it."""
    model: Model
    tester: Tester
    run: Scope

    def tested(self, proposals: Sequence[Proposed]) -> tuple[list[ClaimVerdict], list[str]]:
        """The verdicts on the first claims, and notes on what was dropped."""
        verdicts: list[ClaimVerdict] = []
        notes: list[str] = []
        for one in proposals:
            try:
                claim = claim_of(one, self.program)
            except PatchRefused as error:
                notes.append(f"A claim of the model was dropped: {error.sentence}")
                continue
            if len(verdicts) < TESTED:
                verdicts.append(self._one(claim, self.run.under(f"claim-{len(verdicts) + 1}")))
            else:
                gate = Gate(GateName.RED, None, NOT_TESTED)
                verdicts.append(ClaimVerdict(claim, (gate,), diff=claim.patch.diff(self.program)))
        return verdicts, notes

    def _one(self, claim: Claim, run: Scope) -> ClaimVerdict:
        found = self.tester.executed(claim, run)
        if found.failed is not None:
            revised = self._revised(claim, found, run)
            if revised is None:
                return found
            found = self.tester.executed(revised, run.under("revised"))
            claim = revised
        if found.failed is not None:
            return found
        refuters = Refuters(self.text, self.model, self.tester)
        return self.tester.measured(with_answers(found, refuters.gates(found, run)), run)

    def _revised(self, claim: Claim, found: ClaimVerdict, run: Scope) -> Claim | None:
        """The claim as the model corrects it; none where it takes it back, or changes nothing."""
        prompt = load_prompt("reenact.diagnosis", "prompts/revise.md").fill(
            says=claim.says,
            diff=found.diff,
            script=claim.script,
            seen=found.reason,
            program=self.text,
            check=rules_of_checks(),
        )
        try:
            answer = ask(run, self.model, "revise", prompt, Proposals)
            revised = claim_of(answer.claims[0], self.program) if answer.claims else None
        except (AnswerUnusable, PatchRefused):
            return None
        return revised if revised != claim else None


def tested_claims(
    proposals: Sequence[Proposed],
    evidence: Evidence,
    options: TrainingOptions,
    services: DiagnoseServices,
    run: Scope,
    *,
    effect: bool,
) -> tuple[list[ClaimVerdict], list[str]]:
    """The verdicts on what a model claims by itself and of the books, and notes on what was dropped.

    `effect`: train both programs of a claim over fresh seeds, where it passed the other gates.
    """
    program, model = evidence.program, services.model
    assert program is not None
    assert model is not None
    text = numbered(program)
    known = list(proposals)
    try:
        known += _of_books(known, evidence, text, model, run)
        if not known:
            return [], []
        box = services.sandbox() if services.sandbox is not None else None
    except SandboxUnavailable as error:
        return _unexecuted(known, program, error.sentence)
    except TimeSpent as error:
        return [], [f"The model was not asked to the end. {error.sentence}"]
    if box is None:
        return _unexecuted(known, program, "there is no sandbox")
    of_test = {one.name: getattr(options, one.name) for one in fields(TrainingOptions)}
    tester = Tester(evidence, HypothesisOptions(effect=effect, **of_test), services, box)
    return Jury(program, text, model, tester, run).tested(known)


def _of_books(
    known: Sequence[Proposed], evidence: Evidence, text: str, model: Model, run: Scope
) -> list[Proposed]:
    """Claims that explain what does not balance, where anything is out of balance."""
    if not any(account.imbalances for account in evidence.accounts):
        return []
    entries = entries_of(evidence)
    prompt = load_prompt("reenact.diagnosis", "prompts/books.md").fill(
        entries="\n".join(entries)[:MOST_ENTRIES],
        program=text,
        known="\n".join(one.says for one in known) or "none",
        check=rules_of_checks(),
    )
    try:
        return ask(run, model, "books", prompt, Proposals).claims
    except AnswerUnusable:
        return []


def _unexecuted(
    proposals: Sequence[Proposed], program: Program, why: str
) -> tuple[list[ClaimVerdict], list[str]]:
    """Opinions: nothing runs where nothing confines it."""
    found = []
    for one in proposals:
        try:
            claim = claim_of(one, program)
        except PatchRefused:
            continue
        gate = Gate(GateName.RED, None, why.rstrip("."))
        found.append(ClaimVerdict(claim, (gate,), diff=claim.patch.diff(program)))
    return found, [f"What the model claims was not executed: {why.rstrip('.')}."]


def findings_of_claims(verdicts: Sequence[ClaimVerdict]) -> list[Finding]:
    """What is proven or likely, as findings."""
    return [_finding(one) for one in verdicts if one.status.counts]


def _finding(verdict: ClaimVerdict) -> Finding:
    """A tested claim as a finding: its property, what the check saw, its edit."""
    claim = verdict.claim
    proven = verdict.status is ClaimStatus.PROVEN
    line = claim.place.line if claim.place is not None else 0
    shown = verdict.red[0].sentence.partition(";")[0]
    observation = Observation(
        code=CODE,
        name=f"{NAME}-{line}" if line else NAME,
        family=FAMILY,
        fault=None,
        severity=Severity.WARNING,
        saw=f"Not so: {claim.says.rstrip('.')} ({shown})",
        why=claim.harm or verdict.reason,
        confidence=PROVEN_CLAIM if proven else LIKELY_CLAIM,
        place=claim.place,
        suggestions=(Suggestion(claim.patch, None, None, None),),
        certainty=Certainty.STRONG,
        observes=Observes.EXPERIMENT,
        is_calibrated=True,
    )
    saw = "its check is red on the program and green with this edit"
    fix = Fix(claim.patch, verdict.diff, FixSafety.UNSAFE, FixTried.CHECKED, saw)
    return replace(finding_of(observation), fix=fix)
