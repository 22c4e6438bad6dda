"""What came of one task next to a program: the answer that it wrote, or why there is none."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from benchmarks.dataset.result import Outcome
from reenact.errors import ResultRefused
from reenact.sandbox.files.results import read_json

MOST_REFUSED = 500
"""Characters of what is wrong with an answer that are kept."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One process, in a box or not."""

    answer: bytes | None = None
    why: str = ""
    """Why there is no answer."""
    output: str = ""
    seconds: float = 0.0


def read_answer(ran: Ran, blank: Outcome) -> Outcome:
    """The answer as a result. It may come from a box, so it is only believed to be well-formed."""
    facts = asdict(blank)
    kind = TypeAdapter(type(blank))
    if ran.answer is None:
        facts |= {
            "could_not_run": ran.why,
            "output": ran.output,
            "seconds": ran.seconds,
        }
        return kind.validate_python(facts)
    try:
        answered = read_json(ran.answer)
        known = answered if isinstance(answered, dict) else {}
        return kind.validate_python({**facts, "seconds": ran.seconds, **known})
    except (ResultRefused, ValidationError) as error:
        return kind.validate_python({**facts, "could_not_run": f"answer: {error}"[:MOST_REFUSED]})
