"""What a fingerprint of a paper and an evaluation of its code look like on a page."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from reenact.paper.criterion import CriterionCheck, Value
from reenact.paper.evaluate.evaluation import PaperEvaluation
from reenact.paper.evaluate.rubric import MEANS, RubricScore
from reenact.paper.fingerprint.fingerprint import shortened
from reenact.paper.fingerprint.pipeline import FingerprintRun
from reenact.report.document import Block, Diagnostic, Document, Facts, Level, Text
from reenact.types import ExitCode, Place, Table

CODE = "EV001"
NAME = "requirement-not-met"
SHOWN = 200


def evaluation_document(found: PaperEvaluation) -> Document:
    """The whole answer."""
    title = f"Evaluation of {found.code}" + (f" for: {found.title}" if found.title else "")
    blocks = tuple(_blocks(found))
    notices = tuple(_notices(found))
    data = found.to_dict()
    code = ExitCode.INCONCLUSIVE if found.is_silent else ExitCode.OK
    return Document(
        "evaluate",
        title=title,
        verdict=_verdict(found),
        blocks=blocks,
        diagnostics=notices,
        data=data,
        reused=found.reused,
        exit_code=code,
    )


def _verdict(found: PaperEvaluation) -> str:
    parts = [f"Align-Score {one.level} {_number(one.score, 1)}" for one in found.align]
    if found.rubric is not None and (tree := found.rubric.scored) is not None:
        parts.append(f"rubric {_percent(tree.score)}")
    if found.human and found.human[-1].mean is not None:
        parts.append(f"people {found.human[-1].mean:.1f} of {found.human[-1].most}")
    if found.executed is not None:
        parts.append(
            f"executed {_percent(found.executed.rate)}, gap {_percent(found.executed.gap)}"
        )
    if found.lineage is not None:
        parts.append(f"lineage {found.lineage.hits} of {found.lineage.k} listed")
    parts = parts or [f"{found.quality.files} files, {found.quality.lines} lines of Python"]
    unjudged = f"; {found.unjudged} could not be judged" if found.unjudged else ""
    return f"{', '.join(parts)}{unjudged}."


def _blocks(found: PaperEvaluation) -> Iterator[Block]:
    scores = tuple(
        (
            one.level.value,
            _number(one.score, 1),
            f"{one.judged} of {len(one.marks)}",
        )
        for one in found.align
    )
    if scores:
        yield Table("Align-Score", ("level", "score of 100", "judged"), scores)
    for one in found.align:
        rows = []
        for mark in one.marks:
            score = (
                Value.UNKNOWN.value if mark.score is None else f"{mark.score} of {one.level.most}"
            )
            rows.append((mark.name, score, mark.reason))
        yield Table(
            f"Marks, {one.level} level",
            ("what", "mark", "why"),
            tuple(rows),
        )
    if found.rubric is not None:
        yield from _rubric(found.rubric)
    yield from _people(found)
    yield from _runs(found)
    yield _quality(found)
    if found.tokens:
        money = "price unknown" if found.money is None else f"${found.money}"
        yield Facts(
            "",
            (
                ("model", f"{found.tokens} tokens, {money}"),
                ("time", f"{found.seconds:.0f} s"),
            ),
        )
    if found.notes:
        yield Text("\n".join(found.notes), "Notes")


def _rubric(rubric: RubricScore) -> Iterator[Block]:
    tree = rubric.scored
    if tree is None:
        yield Text("Nothing of the rubric has any weight.", "Rubric")
        return
    facts = [
        ("score", f"{_percent(tree.score)} of what was judged"),
        (
            "if all that cannot be judged failed, passed",
            f"{_percent(tree.low)}, {_percent(tree.high)}",
        ),
        (
            "leaves",
            ", ".join(f"{rubric.count(value)} {value.value}" for value in MEANS.values()),
        ),
    ]
    if rubric.pruned:
        facts.append(("left out", f"{rubric.pruned} leaves that ask for more than writing code"))
    yield Facts("Rubric", tuple(facts))
    rows = []
    for leaf in tree.leaves():
        verdict = Value.UNKNOWN.value
        where = ""
        why = ""
        if (judged := leaf.judged) is not None:
            verdict = judged.value.value
            where = ", ".join(map(str, judged.lines[:3]))
            why = judged.reason
        rows.append(
            (
                leaf.node.requirements,
                str(leaf.node.weight),
                verdict,
                where,
                why,
            )
        )
    yield Table(
        "Leaves",
        ("requirement", "weight", "verdict", "where", "why"),
        tuple(rows[:SHOWN]),
    )
    if len(rows) > SHOWN:
        yield Text(f"{len(rows) - SHOWN} more leaves are in the JSON.")


def _people(found: PaperEvaluation) -> Iterator[Block]:
    if found.human:
        each = (
            (
                one,
                _number(one.mean, 2),
                _number(one.spread, 2),
            )
            for one in found.human
        )
        rows = tuple(
            (
                one.dimension,
                f"{one.most}",
                mean,
                std,
                f"{one.raters}",
            )
            for one, mean, std in each
        )
        yield Table(
            "Human rubric",
            ("dimension", "most", "mean", "spread", "raters"),
            rows,
        )
    if (panel := found.panel) is not None:
        pairs = [
            (
                f"{one.first}, {one.second}",
                f"{one.n}",
                _percent(one.same),
            )
            for one in panel.pairs
        ]
        agreed = [
            (
                _number(one.kappa, 2),
                _number(one.pearson, 2),
            )
            for one in panel.pairs
        ]
        rows = tuple((*pair, *how) for pair, how in zip(pairs, agreed, strict=True))
        yield Table(
            "Agreement",
            ("judges", "items of both", "same", "Cohen's kappa", "Pearson's r"),
            rows,
        )
        yield Facts(
            "",
            (
                ("Krippendorff's alpha", _number(panel.alpha, 2)),
                ("items", f"{panel.items}"),
            ),
        )


def _runs(found: PaperEvaluation) -> Iterator[Block]:
    if (score := found.lineage) is not None:
        hits = (
            f"Hits@{score.n}",
            f"{score.hits} of {score.k} chosen",
        )
        yield Facts(
            "Lineage",
            (
                (f"Top-1 Recall@{score.k}", "1" if score.top1 else "0"),
                hits,
            ),
        )
    if found.edits:
        rows = tuple(
            (
                one.stage,
                one.purpose,
                _number(one.turns, 2),
                _number(one.lines, 1),
            )
            for one in found.edits
        )
        yield Table("Edits", ("stage", "purpose", "turns a run", "lines a turn"), rows)
    if (runs := found.executed) is not None:
        rate = (
            "runs that executed",
            f"{_percent(runs.rate)} of {runs.runs}",
        )
        gap = ("gap over all, a failure as 1", _percent(runs.gap))
        yield Facts(
            "Execution",
            (rate, gap, ("gap over those that executed", _percent(runs.gap_executed))),
        )


def _quality(found: PaperEvaluation) -> Facts:
    one = found.quality
    rules = ", ".join(f"{code} {count}" for code, count in one.rules)
    often = None if one.lint is None or not one.lines else 100 * one.lint / one.lines
    if one.lint is None:
        lint = "ruff could not be asked"
    elif rules:
        lint = f"{one.lint} ({rules})"
    else:
        lint = f"{one.lint}"
    facts = [
        ("Python", f"{one.files} files, {one.lines} lines"),
        ("lint", lint),
        ("lint a hundred lines", _number(often, 1)),
        ("with a type", f"{_percent(one.typed)} of parameters and returns"),
        ("repeated lines", _percent(one.repeated)),
    ]
    if one.unparsed:
        facts.append(("no Python", ", ".join(one.unparsed)))
    return Facts("Code quality", tuple(facts))


def _notices(found: PaperEvaluation) -> Iterator[Diagnostic]:
    """One notice a requirement that is not met, at the code that the verdict rests on."""
    tree = None
    if found.rubric is not None:
        tree = found.rubric.scored
    for leaf in tree.leaves() if tree is not None else ():
        judged = leaf.judged
        if judged is None or judged.value is not Value.FAIL:
            continue
        place = None
        if judged.lines:
            place = Place(
                PurePosixPath(judged.lines[0].file),
                judged.lines[0].line,
            )
        yield Diagnostic(
            CODE,
            NAME,
            Level.WARNING,
            f"{leaf.node.requirements}: {judged.reason}",
            place=place,
        )


def _number(value: float | None, digits: int) -> str:
    if value is None:
        return "-"
    return f"{value:.{digits}f}"


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.1f} %"


def fingerprint_document(taken: FingerprintRun) -> Document:
    """The whole answer of `fingerprint`."""
    found = taken.fingerprint
    checks = sum(one.check is not None for one in found.criteria)
    verdict = (
        f"{len(found.criteria)} criteria, every quote found in the paper; a program can look for "
        f"{checks} of them; proposals dropped: {len(found.dropped)}."
    )
    if not found.criteria:
        verdict = "No criterion could be taken; the reasons are below."
    title = f"Fingerprint: {taken.paper.title}"
    blocks = tuple(_taken(taken))
    data = taken.to_dict()
    return Document(
        "fingerprint",
        title=title,
        verdict=verdict,
        blocks=blocks,
        diagnostics=(),
        data=data,
        reused=taken.reused,
        exit_code=taken.exit_code,
    )


def _counts(names: Iterable[str]) -> str:
    """How often each name is there."""
    counts = Counter(names)
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _taken(taken: FingerprintRun) -> Iterator[Block]:
    criteria = taken.fingerprint.criteria
    dropped = taken.fingerprint.dropped
    run = taken.run
    money = "price unknown" if run.unpriced else f"${run.money}"
    facts = (
        (
            "paper",
            f"{taken.paper.source} ({taken.paper.form})",
        ),
        ("levels", _counts(criterion.level.value for criterion in criteria)),
        ("sorts", _counts(criterion.category.value for criterion in criteria)),
        (
            "model",
            f"{run.tokens_in + run.tokens_out} tokens, {money}",
        ),
        ("estimated", taken.estimate.sentence),
        ("run", run.id),
    )
    yield Facts("", facts)
    if criteria:
        rows = tuple(
            (
                criterion.id,
                criterion.fact,
                criterion.scope,
                ", ".join(criterion.places),
                _checked(criterion.check),
                str(criterion.weight),
            )
            for criterion in criteria
        )
        yield Table(
            "Criteria",
            ("id", "fact", "scope", "place", "check", "weight"),
            rows,
        )
        yield Table(
            "Quotes",
            ("id", "the paper's words"),
            tuple((one.id, one.quote) for one in criteria),
        )
    if dropped:
        left_out = tuple((one.level.value, one.fact, one.reason) for one in dropped)
        yield Table("Dropped", ("level", "fact", "why"), left_out)
    if taken.paper.lost:
        yield Text(
            "\n".join(f"{one.kind}: {one.what}" for one in taken.paper.lost),
            "Lost in reading",
        )


def _checked(check: CriterionCheck | None) -> str:
    if check is None:
        return "judge"
    value = check.expression or check.value
    return f"{check.kind.value}: {shortened(f'{check.subject} = {value}', 60)}"
