"""Others are asked about a claim whose check is red before and green after its edit: for a fix of
their own, made without having seen the first, and for a reason to leave the code as it is. What they
answer is executed as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from reenact.asking import ask
from reenact.claims.claim import Claim
from reenact.claims.gates import Looks
from reenact.claims.look import Look
from reenact.claims.verdict import ClaimVerdict, Gate, GateName
from reenact.diagnosis.hypothesis import Asked, Tester
from reenact.diagnosis.proposals.proposed import Doubt, ProposedEdit, patch_of, rules_of_checks
from reenact.errors import AnswerUnusable, PatchRefused
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.program.patch import Patch

DOUBTS = 2
"""How often a reason against a claim is looked for."""


@dataclass(frozen=True)
class Refuters:
    """Anyone who is asked, and what executes their answers."""

    text: str
    """The program as prompts show it."""
    model: Model
    tester: Tester

    def gates(self, found: ClaimVerdict, run: Scope) -> Iterator[Gate]:
        """What comes of asking, in order. Who takes them stops at the first that does not pass."""
        claim = found.claim
        if all(gate.name is not GateName.SECOND for gate in found.gates):
            yield self._second(claim, run)
        for number in range(DOUBTS):
            gate = self._doubted(claim, found, run, number)
            if gate.passed is not True or number == DOUBTS - 1:
                yield gate
                return

    def _second(self, claim: Claim, run: Scope) -> Gate:
        """Green after the fix of somebody who sees the claim and not the edit."""
        prompt = load_prompt("reenact.diagnosis", "prompts/second.md").fill(
            says=claim.says, harm=claim.harm or "It is not given.", program=self.text
        )
        try:
            answer = ask(run, self.model, "second", prompt, ProposedEdit)
            patch = patch_of(answer.swaps, self.tester.program)
        except AnswerUnusable as error:
            return Gate(GateName.SECOND, None, error.sentence.rstrip("."))
        except PatchRefused as error:
            return Gate(GateName.SECOND, False, f"no one else found a fix: {error.sentence}")
        return self._green_after(claim, patch, run)

    def _green_after(self, claim: Claim, patch: Patch, run: Scope) -> Gate:
        looks = Looks(claim, self.tester.program, self.tester.looker, run)
        (seen,) = looks.at(Look("after-second", patch.apply(self.tester.program)))
        return Gate(GateName.SECOND, seen[0].is_green, seen[0].sentence)

    def _doubted(self, claim: Claim, found: ClaimVerdict, run: Scope, number: int) -> Gate:
        prompt = load_prompt("reenact.diagnosis", "prompts/refute.md").fill(
            says=claim.says,
            harm=claim.harm or "It is not given.",
            diff=found.diff,
            script=claim.script,
            seen="\n".join([found.red[0].sentence, found.green[0].sentence]),
            program=self.text,
            check=rules_of_checks(),
        )
        try:
            doubt = ask(run, self.model, "refute", prompt, Doubt, sample=number)
        except AnswerUnusable as error:
            return Gate(GateName.REFUTERS, None, error.sentence.rstrip("."))
        if doubt.reason.strip():
            return Gate(GateName.REFUTERS, False, " ".join(doubt.reason.split()))
        if doubt.check is None or not doubt.script.strip():
            return Gate(GateName.REFUTERS, True, f"{DOUBTS} looked for one")
        return self._countered(claim, doubt, run, number)

    def _countered(self, claim: Claim, doubt: Doubt, run: Scope, number: int) -> Gate:
        """A counter-check speaks where what it shows comes with the edit."""
        assert doubt.check is not None
        counter = replace(claim, script=doubt.script, check=doubt.check)
        if self.tester.read(counter).failed is not None:
            return Gate(GateName.REFUTERS, True, "a counter-check could not be used")
        looks = Looks(counter, self.tester.program, self.tester.looker, run)
        before, after = looks.at(
            Look(f"counter-{number}-before", self.tester.program),
            Look(f"counter-{number}-after", claim.patch.apply(self.tester.program)),
        )
        broken = before[0].is_green and after[0].is_red
        saw = f"a counter-check holds before the edit and not after it: {after[0].sentence}"
        return Gate(
            GateName.REFUTERS, not broken, saw if broken else "a counter-check shows nothing"
        )


def asking(text: str, model: Model) -> Asked:
    """Refuters who answer through this model."""

    def asked(tester: Tester, found: ClaimVerdict, run: Scope) -> Iterator[Gate]:
        return Refuters(text, model, tester).gates(found, run)

    return asked
