"""Claims that the user states, because they stand in figures alone: `accuracy of METHOD on DATA > 0.97`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reenact.errors import InputError
from reenact.paper.review.claims import Claim

PLACE = "given"
"""Where such a claim stands: with the user, not in the paper."""
FORM = "METRIC of METHOD on DATA > NUMBER"
"""`>=`, `<`, `<=` and `=` too; `on DATA` may be left out; `%` after the number where it is in per cent."""
SMALLER_IS_BETTER = re.compile(
    r"\b(?:loss|error|rmse|mse|mae|perplexity|nll|fid|wer|distance|seconds?|time)\b", re.I
)
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_CLAIM = re.compile(
    rf"(?P<metric>\S.*?)\s+of\s+(?P<method>\S.*?)(?:\s+on\s+(?P<dataset>\S.*?))?"
    rf"\s*(?P<sign>>=|<=|>|<|=)\s*(?P<value>{_NUMBER})\s*(?P<unit>%?)",
    re.IGNORECASE,
)


def given_claims(stated: Sequence[str]) -> tuple[Claim, ...]:
    """The user's claims, numbered `G1`, `G2`, ... Raises InputError for one that is not in this form."""
    return tuple(_read(number, text) for number, text in enumerate(stated, start=1))


def _read(number: int, text: str) -> Claim:
    found = _CLAIM.fullmatch(" ".join(text.split()))
    if found is None:
        raise InputError(f"This is no claim. Expected: {FORM}. Received: {text!r}.")
    part = found.groupdict(default="")
    bound = part["sign"].rstrip("=")
    higher = bound == ">" if bound else not SMALLER_IS_BETTER.search(part["metric"])
    return Claim(
        id=f"G{number}", metric=part["metric"], value=float(part["value"]), unit=part["unit"],
        higher_is_better=higher, method=part["method"], dataset=part["dataset"], place=PLACE,
        quote=text.strip(), bound=bound,
    )  # fmt: skip
