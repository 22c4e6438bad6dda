"""The files of a result: for a bug that shows repro.py, its facts, a test and the requirements, all of
them proven; for one that does not the scripts that were tried and a reply to the reporter.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from packaging.utils import canonicalize_name

from reenact.bug.classify import SeedRun
from reenact.bug.declared import own_names
from reenact.bug.generate import Case
from reenact.bug.repro.as_test import test_name, test_text
from reenact.bug.repro.facts import FORMAT, ReproFacts, seen_crash
from reenact.bug.repro.proof import EXPECTED, HandedOver, Proof, prove
from reenact.bug.repro.reply import reply_text, tried_scripts
from reenact.bug.repro.script import Parts, parts_of, script_text
from reenact.bug.reproduction import Reproduction, Verdict, on_fixed
from reenact.bug.script_runner import modules_of
from reenact.claims.check import Relation
from reenact.journal import Scope

FACTS = "repro.json"
PROGRAM = "repro.py"
REQUIREMENTS = "requirements.txt"
REPLY = "REPLY.md"
PERSONAL = "A model wrote it and it ran in a sandbox only: read it before you run it."


def handed_over(found: Reproduction, case: Case, run: Scope) -> tuple[Reproduction, dict[str, str]]:
    """The result with what came of the proofs, and the files."""
    if not found.script:
        reply = reply_text(found, case)
        tried = tried_scripts(found)
        files = {**tried, REPLY: reply} if reply else {}
        return replace(found, reply=reply), files
    shown = found.shown
    if found.verdict is Verdict.INCOMPLETE:
        # There it cannot pass: that is what the verdict says.
        case = replace(case, fixed=None)
    for plainly in (True, False):
        given = {name: _written(found, case, shown, name, plainly=plainly) for name in EXPECTED}
        proofs: Mapping[str, Proof] = {}
        if case.options.parts.execution:
            proofs = prove(case, given, run if plainly else run.under("by the watcher"))
        if not _unproven(proofs) or not _has_value(case):
            break
    handed = given["buggy"]
    test = handed.test
    notes = list(found.notes)
    if test and (why := _is_no_test(proofs)):
        notes.append(why)
        test = ""
    elif test and case.fixed is None and proofs:
        notes.append("The test was seen to fail; no one has seen it pass: no --fixed does.")
    files = {
        PROGRAM: handed.program,
        FACTS: handed.facts.text(),
        REQUIREMENTS: "".join(f"{one}\n" for one in _requirements(found, case)),
    }
    if test:
        files[test_name(found.source)] = test
    found = replace(found, repro=handed.program, facts=files[FACTS], test=test, notes=tuple(notes))
    return _judged(found, proofs), files


def _has_value(case: Case) -> bool:
    """Whether an assert on a value can be written in two ways."""
    check = case.symptom.closing
    return check is not None and check.relation.of_a_value


def _written(
    found: Reproduction, case: Case, shown: SeedRun | None, name: str, *, plainly: bool
) -> HandedOver:
    showing = found.showing
    runs = showing.runs if showing is not None else ()
    forms = showing.forms if showing is not None else ()
    fixed = on_fixed(found.script, forms)
    seeded = case.runner.environment.seeded(found.script) if _by_chance(runs) else []
    if _by_chance(runs) and not seeded:
        seeded = ["random"]

    def parts(script: str) -> Parts:
        return parts_of(script, case.symptom, shown, seeded, plainly=plainly)

    script = fixed if name == "fixed" else found.script
    seen = [shown.sentence] if shown is not None else []
    at = f" at {found.commit[:12]}" if found.commit else ""
    versions = shown.observation.versions if shown is not None else {}
    with_what = ", ".join(f"{library} {version}" for library, version in versions.items())
    seen.append(f"Seen{at}{f' with {with_what}' if with_what else ''}. {PERSONAL}")
    program = script_text(parts(script), found.title, seen)
    check = case.symptom.closing
    # The memory of a process holds that of all tests before this one.
    has_test = check is None or check.relation is not Relation.MEMORY
    test = ""
    if has_test:
        test = test_text(parts(fixed), case.buggy.files, found.title, found.source)
    seeds = [run.seed for run in runs]
    if shown is not None:
        seeds = [shown.seed, *(seed for seed in seeds if seed != shown.seed)]
    facts = ReproFacts(
        title=found.title[:300],
        report=found.source,
        commit=found.commit,
        fixed=found.fixed,
        symptom=case.symptom,
        seen=seen_crash(shown, case.buggy.files) if shown is not None else None,
        forms=forms,
        seeds=tuple(seeds) or (0,),
        script=found.script,
        sha256=hashlib.sha256(program.encode("utf-8", "replace")).hexdigest(),
        modules=tuple(modules_of(found.script, case.buggy.files.packages)),
        environment=case.runner.environment.key,
        stubs=case.options.stubs,
        format=FORMAT,
    )
    return HandedOver(program, test, facts)


def _by_chance(runs: Sequence[SeedRun]) -> bool:
    """Whether the seed may have a part in what was seen: not where all runs saw the same."""
    seen = {(run.outcome, run.observation.message, run.observation.saw) for run in runs}
    return len(seen) > 1 or len(runs) == 1


def _unproven(proofs: Mapping[str, Proof]) -> list[str]:
    """What is not as it should be, each in words."""
    found = []
    for name, proof in proofs.items():
        if proof.code is None:
            found.append(f"repro.py did not end on the {name} revision")
        elif proof.code != EXPECTED[name]:
            found.append(
                f"repro.py is judged {proof.code} on the {name} revision, expected "
                f"{int(EXPECTED[name])}: {proof.why}"
            )
    return found


def _is_no_test(proofs: Mapping[str, Proof]) -> str:
    """Why the test is not given; empty where it is red before and green after."""
    for name, proof in proofs.items():
        if proof.test_failed is None:
            continue
        if proof.test_failed is not (name == "buggy"):
            what = "passes" if name == "buggy" else "fails"
            return f"No test is handed over: written as one, it {what} on the {name} revision."
    return ""


def _judged(found: Reproduction, proofs: Mapping[str, Proof]) -> Reproduction:
    """With the exit codes of the judge by revision: a result whose own proof failed is not
    reproduced.
    """
    unproven = [one.rstrip(".") for one in _unproven(proofs)]
    exits = {name: proof.code for name, proof in proofs.items() if proof.code is not None}
    notes = (*found.notes, *(f"{one}." for one in unproven))
    found = replace(found, exits=exits, notes=notes)
    if not unproven or found.verdict is not Verdict.REPRODUCED:
        return found
    reason = f"{found.reason}; but {'; '.join(unproven)}"
    return replace(found, verdict=Verdict.SHOWN, reason=reason[:900])


def _requirements(found: Reproduction, case: Case) -> list[str]:
    """What is needed directly, without the project itself: a release of it would take the place of
    the checkout.
    """
    own = own_names(case.buggy.files)
    named = case.runner.environment.direct or found.packages
    return [one for one in named if canonicalize_name(one.partition("==")[0]) not in own]
