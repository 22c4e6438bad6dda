"""Take the fingerprint of a paper, as a run that an interruption does not lose: guides, scan,
grounding, atoms, one of each, numbered.

Two guides over the whole paper, a scan of every portion for what they missed. Compound facts are
taken apart; equations and algorithms stay whole.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from reenact.asking import ask, ask_with_retry, side_by_side
from reenact.errors import AnswerUnusable
from reenact.files import packaged_table
from reenact.intake.papers.paper import Paper
from reenact.journal import Journal, Run, Scope, mark
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.bearing import portions, read_text, with_added
from reenact.paper.criterion import Kind, Level
from reenact.paper.estimate import CostEstimate, fingerprint_estimate
from reenact.paper.fingerprint import fingerprint as facts
from reenact.paper.fingerprint.fingerprint import (
    Dropped,
    Fingerprint,
    Item,
    Proposed,
    Sort,
)
from reenact.paper.fingerprint.similar import distinct
from reenact.paper.grounding import in_order
from reenact.paper.options import Goal, PaperAblations
from reenact.paper.quantity import has_numbers, quantities
from reenact.result import Result, encoded
from reenact.settings import field_texts
from reenact.types import ExitCode, JsonValue, Progress, Tell

PACKAGE = "reenact.paper.fingerprint"
TEXTS = "prompts/texts.toml"
TOLERATED = 10
"""One ungrounded fact in so many is dropped without asking again."""
MOST_ATOMS = 6
"""A fact that falls into more stays whole: such a list is a description, not a compound."""
SPLIT_AT_ONCE = 40
"""Facts a question."""
_MATHS = re.compile(r"\$[^$]*\$")
_JOINED = re.compile(r";|\band\b|\bas well as\b|,.*,", re.IGNORECASE)


def take_fingerprint(
    paper: Paper,
    goal: Goal,
    model: Model,
    run: Scope,
    parts: PaperAblations,
) -> Fingerprint:
    """Criteria, each grounded in the paper's words; all that was proposed and not kept has its
    reason.
    """
    here = run.under("fingerprint")
    items: list[Item] = []
    dropped: list[Dropped] = []
    guides = (Level.FRAMEWORK, Level.CONFIGURATION)
    grain = packaged_table(PACKAGE, TEXTS)["grain"]["atomic" if parts.atomicity else "compound"]
    shared = {
        "grain": grain,
        "sorts": listing(Sort),
        "kinds": listing(Kind),
    }
    wrong, tolerate = (
        partial(facts.objections, paper=paper),
        lambda one: len(one.items) // TOLERATED,
    )

    def answered(
        question: tuple[Level, str, dict[str, Any], Scope],
    ) -> list[Proposed] | Dropped:
        """The facts of one question, asked twice when many are not grounded."""
        level, step, values, scope = question
        prompt = load_prompt(
            PACKAGE, f"prompts/{'scan' if level is Level.PARAGRAPH else 'guide'}.md"
        )
        ask_guide = partial(
            ask_with_retry,
            answer=facts.Guide,
            wrong=wrong,
            tolerate=tolerate,
        )
        try:
            return ask_guide(
                scope,
                model,
                step,
                prompt,
                {
                    **values,
                    **shared,
                },
            ).items
        except AnswerUnusable as error:
            return Dropped(f"(everything that {step} would have found)", level, error.sentence)

    for levels in (guides, (Level.PARAGRAPH,)) if parts.scan else (guides,):
        # Questions of one line do not depend on one another's answers.
        asked = [
            (level, *one)
            for level in levels
            for one in _questions(
                level,
                paper=paper,
                goal=goal,
                items=items,
                run=here,
            )
        ]
        for (level, *_), proposed in zip(asked, side_by_side(answered, asked), strict=True):
            if isinstance(proposed, Dropped):
                dropped.append(proposed)
                continue
            found, refused = facts.sifted(proposed, level, paper)
            items += found
            dropped += refused
    if parts.atomicity:
        items = split(items, model, here)
    kept, repeated = distinct(items)
    return Fingerprint(
        facts.numbered(kept, in_order(paper)),
        (*dropped, *repeated),
    )


def _questions(
    level: Level,
    paper: Paper,
    goal: Goal,
    items: Sequence[Item],
    run: Scope,
) -> Iterator[tuple[str, dict[str, Any], Scope]]:
    """The step, the variables and the scope of each question of a level: one about the whole paper;
    or one about each portion, for facts that no item holds yet.
    """
    if level is not Level.PARAGRAPH:
        addendum = goal.addendum or "There is none."
        look = packaged_table(PACKAGE, TEXTS)["look"][level]
        values = {
            "paper": read_text(paper),
            "goal": goal.text(),
            "addendum": addendum,
            "look": look,
        }
        yield level.value, values, run
        return
    for number, (portion, ids) in enumerate(portions(paper)):
        here = [item for item in items if ids.intersection(item.places)]
        known = "\n".join(f"- {one.fact} | {one.scope} [{', '.join(one.places)}]" for one in here)
        values = {
            "title": paper.title,
            "goal": goal.text(),
            "portion": portion,
        }
        yield (
            "paragraphs",
            {
                **values,
                "known": known or "nothing yet",
            },
            run.under("scan", attempt=number),
        )


def listing(owner: type[Sort] | type[Kind]) -> str:
    """The members of an enumeration with what they mean."""
    return "\n".join(
        f"  - {owner[name].value}: {words}" for name, words in field_texts(owner).items()
    )


def split(
    items: Sequence[Item],
    model: Model,
    run: Scope,
) -> list[Item]:
    """All items, the compound ones in parts; an answer that does not hold leaves them as they
    are.
    """
    compound = [number for number, item in enumerate(items) if is_compound(item)]
    parts: dict[int, list[Item]] = {}
    for start in range(0, len(compound), SPLIT_AT_ONCE):
        portion = compound[start : start + SPLIT_AT_ONCE]
        here = run.under("atoms", attempt=start // SPLIT_AT_ONCE)
        parts |= _parts(
            {number: items[number] for number in portion},
            model,
            here,
        )
    return [part for number, item in enumerate(items) for part in parts.get(number, [item])]


def is_compound(item: Item) -> bool:
    """Whether it may say more than one thing, as far as its words show."""
    words = _MATHS.sub(" ", item.fact)
    return not item.whole and (len(quantities(words)) > 1 or _JOINED.search(words) is not None)


def _parts(
    portion: dict[int, Item],
    model: Model,
    run: Scope,
) -> dict[int, list[Item]]:
    lines = (
        f"{one.fact} | scope: {one.scope} | the paper: {one.quote!r}" for one in portion.values()
    )
    listed = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
    prompt = load_prompt(PACKAGE, "prompts/atoms.md").fill(
        facts=listed, kinds=listing(Kind), most=MOST_ATOMS
    )
    try:
        answer = ask(
            run,
            model=model,
            name="split",
            prompt=prompt,
            answer=facts.Splits,
        )
    except AnswerUnusable:
        return {}
    order = dict(enumerate(portion, start=1))
    found = dict[int, list[Item]]()
    for one in answer.facts:
        number = order.get(one.number)
        if number is None or number in found or not 1 < len(one.atoms) <= MOST_ATOMS:
            continue
        item = portion[number]
        together = " | ".join(atom.fact for atom in one.atoms)
        # Nothing lost, nothing new: the atoms have the numbers of the fact, and only those of the
        # paper.
        if has_numbers(together, item.fact) and has_numbers(
            f"{item.fact} {item.quote}",
            together,
        ):
            for atom in one.atoms:
                fact = " ".join(atom.fact.split())
                scope = " ".join(atom.scope.split()) or item.scope
                check = facts.checked(
                    atom.check,
                    item.quote,
                    whole=item.whole,
                )
                found.setdefault(number, []).append(
                    replace(item, fact=fact, scope=scope, check=check)
                )
    return found


@dataclass(frozen=True, slots=True, repr=False)
class FingerprintRun(Result):
    """A fingerprint, the paper it is of, and the run that took it."""

    paper: Paper
    fingerprint: Fingerprint
    run: Run
    estimate: CostEstimate
    """What it was to cost, as stated before the first request."""
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""

    def in_a_line(self) -> str:
        return f"{self.paper.title}: {self.fingerprint.in_a_line()}"

    @property
    def exit_code(self) -> ExitCode:
        if self.fingerprint.criteria:
            return ExitCode.OK
        return ExitCode.INCONCLUSIVE

    def to_dict(self) -> dict[str, JsonValue]:
        """The fingerprint, its paper, and what it cost."""
        paper = self.paper
        run = self.run
        source: JsonValue = {
            "title": paper.title,
            "source": paper.source,
            "form": paper.form,
        }
        return {
            "paper": source,
            **self.fingerprint.to_dict(),
            "lost": [encoded(one) for one in paper.lost],
            "tokens": run.tokens_in + run.tokens_out,
            "money": None if run.unpriced else str(run.money),
            "estimate": encoded(self.estimate),
            "run": run.id,
        }


def run_fingerprint(
    paper: Paper,
    goal: Goal,
    model: Model,
    journal: Journal,
    parts: PaperAblations,
    tell: Tell,
    **about: Any,
) -> FingerprintRun:
    """Take it, as a run that an interruption does not lose; `about` goes to `Journal.run`."""
    request = {
        "paper": mark(paper.text()),
        "goal": goal.text(),
        "addendum": mark(goal.addendum),
        "without": sorted(name for name in parts.names() if not getattr(parts, name)),
        "model": model.name,
    }
    with journal.run(pipeline="fingerprint", request=request, **about) as run:
        paper = with_added(paper, goal)
        estimate = fingerprint_estimate(paper, parts, model)
        tell(
            Progress(
                "fingerprint",
                note=f"cost: {estimate.sentence}",
            )
        )
        taken = take_fingerprint(
            paper,
            goal=goal,
            model=model,
            run=run,
            parts=parts,
        )
        run.note("result", taken)
        result = FingerprintRun(
            paper,
            fingerprint=taken,
            run=run.record,
            estimate=estimate,
            reused=run.reused,
        )
        run.finish(
            {
                "criteria": len(taken.criteria),
                "dropped": len(taken.dropped),
            },
            result.exit_code,
        )
    return result
