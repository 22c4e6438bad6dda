"""Claims of a model: executed, doubted, listed; nothing that it writes runs outside of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reenact
from reenact.claims.verdict import ClaimStatus, GateName
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.errors import InputError, SandboxUnavailable
from reenact.faults.fix import FixTried
from reenact.journal import Journal
from reenact.llm.ask import Call
from reenact.llm.scripted import Scripted
from reenact.program.program import Program
from reenact.sandbox.box import Sandbox
from reenact.sandbox.choose import choose
from reenact.types import ExitCode
from tests.claims.conftest import CHECK, RETURNS, program_of

SWAPS = [
    {"path": "train.py", "search": "in rewards:", "replace": "in reversed(rewards):"},
    {
        "path": "train.py",
        "search": "        found.append(total)",
        "replace": "        found.insert(0, total)",
    },
]
OTHER_SWAPS = [
    {"path": "train.py", "search": "in rewards:", "replace": "in rewards[::-1]:"},
    {"path": "train.py", "search": "    return found", "replace": "    return found[::-1]"},
]
CLAIM: dict[str, Any] = {
    "says": "With equal rewards the first step has the most to come",
    "harm": "Early actions are not credited for what follows them.",
    "file": "train.py",
    "line": 8,
    "quote": "for reward in rewards:",
    "swaps": SWAPS,
    "script": CHECK,
    "check": {"relation": "differs"},
}
NO_DOUBT = {"reason": ""}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(tmp_path / ".reenact") as made:
        yield made


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return program_of(tmp_path, RETURNS)


def diagnosed(
    program: Program,
    journal: Journal,
    script: Mapping[str, Any],
    sandbox: Any = choose,
    depth: Depth = Depth.QUICK,
) -> tuple[Diagnosis, Scripted]:
    waiting = {
        step: list(lines) if isinstance(lines, list) else [lines] for step, lines in script.items()
    }

    def play(call: Call) -> Any:
        """The next answer to this question; the last one again where there is no other."""
        lines = waiting[call.step.partition("~")[0]]
        return lines.pop(0) if len(lines) > 1 else lines[0]

    model = Scripted(play)
    services = DiagnoseServices(
        journal, program.folder / ".reenact" / "traces", model=model, sandbox=sandbox
    )
    return diagnose(program, DiagnoseOptions(depth=depth, samples=1), services), model


def steps(claim: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Answers by step, as a scripted model takes them."""
    found = {
        "diagnose/model/opinion": {"faults": [], "claims": [claim]},
        "diagnose/claims/claim-1/second": {"swaps": OTHER_SWAPS},
        "diagnose/claims/claim-1/refute": NO_DOUBT,
        "diagnose/claims/claim-1/revise": {"claims": []},
    }
    return {**found, **{f"diagnose/claims/{name}": line for name, line in more.items()}}


def test_a_claim_that_passes_all_is_a_finding(program: Program, journal: Journal) -> None:
    found, model = diagnosed(program, journal, steps(CLAIM))
    (verdict,) = found.hypotheses
    assert verdict.status is ClaimStatus.LIKELY, verdict.reason
    (finding,) = found.findings
    assert (finding.code, finding.line) == ("MD101", 8)
    assert "the first step has the most to come" in finding.message
    assert finding.fix is not None
    assert "reversed(rewards)" in finding.fix.diff
    assert finding.fix.tried is FixTried.CHECKED
    assert found.exit_code is ExitCode.FOUND
    assert len(model.calls) == 4, "one open question, a second fix, two doubts"
    assert "Not so" in str(found)


def test_a_reason_to_leave_it_is_taken(program: Program, journal: Journal) -> None:
    doubt = {"reason": "Line 6 says that the last step comes first."}
    found, _ = diagnosed(program, journal, steps(CLAIM, **{"claim-1/refute": [NO_DOUBT, doubt]}))
    (verdict,) = found.hypotheses
    assert verdict.status is ClaimStatus.REFUTED
    assert "last step comes first" in verdict.reason
    assert not any(one.code == "MD101" for one in found.findings)


def test_a_counter_check_is_executed(program: Program, journal: Journal) -> None:
    """It shows that the edit breaks something: an empty list is asked for its first."""
    script = (
        "import reenact_reach as reach\nprogram = reach.module()\n"
        "observed = program.returns([1.0, 2.0])[-1]\nreference = 2.5\n"
    )
    doubt = {"reason": "", "script": script, "check": {"relation": "differs"}}
    found, _ = diagnosed(program, journal, steps(CLAIM, **{"claim-1/refute": doubt}))
    (verdict,) = found.hypotheses
    assert verdict.status is ClaimStatus.REFUTED
    assert "counter-check" in verdict.reason


def test_nobody_else_finds_a_fix(program: Program, journal: Journal) -> None:
    found, _ = diagnosed(program, journal, steps(CLAIM, **{"claim-1/second": {"swaps": []}}))
    (verdict,) = found.hypotheses
    assert verdict.failed is not None
    assert verdict.failed.name is GateName.SECOND
    assert not verdict.status.counts


def test_it_is_revised_once(program: Program, journal: Journal) -> None:
    wrong = {**CLAIM, "script": CHECK.replace("found[0]", "found.missing")}
    found, model = diagnosed(
        program, journal, steps(wrong, **{"claim-1/revise": {"claims": [CLAIM]}})
    )
    assert found.hypotheses[0].status is ClaimStatus.LIKELY
    assert len(model.calls) == 5


def test_a_third_claim_is_listed_untested(program: Program, journal: Journal) -> None:
    wrong = {**CLAIM, "script": CHECK.replace("1.0 + 0.5 + 0.25", "found[0]")}
    claims = [{**wrong, "says": f"claim {number}", "line": number} for number in (6, 7, 8)]
    script = {
        "diagnose/model/opinion": {"faults": [], "claims": claims},
        "diagnose/claims/claim-1/revise": {"claims": []},
        "diagnose/claims/claim-2/revise": {"claims": []},
    }
    found, _ = diagnosed(program, journal, script)
    assert len(found.hypotheses) == 3
    assert "left untested" in found.hypotheses[2].reason
    assert not any(one.status.counts for one in found.hypotheses)
    assert found.exit_code is not ExitCode.FOUND or found.findings


def test_an_edit_that_does_not_fit_is_dropped(program: Program, journal: Journal) -> None:
    swaps = [{"path": "train.py", "search": "not there", "replace": "x"}]
    found, _ = diagnosed(program, journal, steps({**CLAIM, "swaps": swaps}))
    assert found.hypotheses == ()
    assert any("was dropped" in one and "is not" in one for one in found.notes)


def test_without_a_sandbox_nothing_runs(program: Program, journal: Journal) -> None:
    def none() -> Sandbox:
        raise SandboxUnavailable("No sandbox works on this machine.")

    found, model = diagnosed(program, journal, steps(CLAIM), none)
    (verdict,) = found.hypotheses
    assert verdict.status is ClaimStatus.NOT_TESTED
    assert "No sandbox works" in verdict.reason
    assert len(model.calls) == 1
    assert any("was not executed" in one for one in found.notes)


def test_what_was_read_only_is_not_tested(program: Program, journal: Journal) -> None:
    found, _ = diagnosed(program, journal, steps(CLAIM), depth=Depth.STATIC)
    assert found.hypotheses == ()


def test_an_edit_of_code_is_trained_in_the_sandbox_only(
    program: Program, journal: Journal, tmp_path: Path
) -> None:
    from reenact.claims.edit import patch_of_diff
    from reenact.errors import PatchRefused
    from reenact.trials.job import make_job
    from reenact.trials.trial import Trial
    from tests.claims.conftest import FIX

    trial = Trial(program, patch_of_diff(FIX, program))
    with pytest.raises(PatchRefused, match="sandbox only"):
        make_job(trial, tmp_path / "trial", "")
    assert replace(trial.patch).is_code


def test_what_the_user_suspects_is_in_the_question(program: Program, journal: Journal) -> None:
    options = DiagnoseOptions(samples=1, suspect="the returns look reversed")
    model = Scripted(lambda _: {"faults": [], "claims": []})
    services = DiagnoseServices(journal, program.folder / ".reenact" / "traces", model=model)
    diagnose(program, options, services)
    asked = "".join(str(turn) for turn in model.calls[0].turns)
    assert "the returns look reversed" in asked


def test_a_suspicion_needs_a_model(program: Program) -> None:
    with pytest.raises(InputError, match="none is named"):
        reenact.diagnose(program.folder / "train.py", suspect="the returns")
