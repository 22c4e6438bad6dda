"""One finding in words: its line with a mark, what was seen, why it is wrong, what was changed and tried."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

from reenact.diagnosis.diagnosis import ChangeEffect, DiagnosisFinding, SourceFile
from reenact.program.patch import readable_diff
from reenact.rules.finding import Finding, Suggestion
from reenact.types import Place

SHOWN_OTHERS = 3
"""Other witnesses whose observation is shown; of the rest only the code."""
WIDE = 84
"""Characters of a source line that are shown."""
MOST_LINES = 6


def seen(finding: Finding) -> str:
    """The observation, with the layer when it does not name it."""
    if not finding.layer or finding.layer in finding.saw.split():
        return finding.saw
    return f"layer {finding.layer}: {finding.saw}"


def reasons(one: DiagnosisFinding, *, again: bool = False, together: str = "") -> Iterator[tuple[str, str]]:
    """What was seen, why it is wrong, who else says so, what to change, what came of trying.

    `again`: the same rule is shown above. `together`: the finding above that has the same change.
    """
    first = one.suspect.headline
    yield "saw", seen(first)
    if not again:
        yield "why", first.why
    others = [other for other in one.suspect.witnesses if other is not first]
    for number, other in enumerate(others[:SHOWN_OTHERS]):
        yield "" if number else "also", f"{other.code} {other.name}: {seen(other)}"
    if more := others[SHOWN_OTHERS:]:
        yield "", f"and {', '.join(other.code for other in more)}"
    if one.suspect.suggestions and one.tried is None:
        yield "try", "\n".join(changed_lines(one.fix)) or change_words(one.suspect.suggestions[0])
    if one.tried is not None and together:
        yield "tried", f"together with {together}, see there"
    elif one.tried is not None:
        yield "changed", "\n".join(changed_lines(one.fix)) or str(one.tried.patch)
        yield "tried", tried_words(one.tried) + (f"; {one.note}" if one.note else "")
    elif one.note:
        yield "tried", one.note


def tried_words(tried: ChangeEffect) -> str:
    """Before and after over the seeds, and whether that decides."""
    before, after = (_spread(values, tried) for values in (tried.before, tried.after))
    seeds = "1 seed" if len(tried.before) == 1 else f"{len(tried.before)} seeds"
    changed = f"{seeds}, {tried.measure.name} {before} -> {after}"
    if tried.p_value is None:
        return f"{changed}, on top of {tried.on_top_of}" if tried.on_top_of else changed
    return f"{changed} (p={tried.p_value:.3f}{'' if tried.confirmed else ', not confirmed'})"


def change_words(suggestion: Suggestion) -> str:
    """A change on one line."""
    if suggestion.hyperparameter is None:
        return str(suggestion.patch)
    name, old = suggestion.hyperparameter.kind.value, "(absent)" if suggestion.old is None else suggestion.old
    return f"{name}: take {old} away" if suggestion.new is None else f"{name}: {old} -> {suggestion.new}"


def _spread(values: Sequence[float], tried: ChangeEffect) -> str:
    sign = 1 if tried.measure.larger_is_better else -1
    known = [sign * value for value in values if math.isfinite(value)]
    if not known:
        return "failed"
    around = f" +- {stdev(known):.2g}" if len(known) > 1 else ""
    failed = f" ({len(values) - len(known)} failed)" if len(known) < len(values) else ""
    return f"{fmean(known):.3g}{around}{failed}"


def source_lines(place: Place | None, files: Sequence[SourceFile]) -> Iterator[str]:
    """The line of a finding with a mark below the part that it is about."""
    text = next((one.text for one in files if place is not None and one.file == str(place.file)), "")
    lines = text.split("\n")
    if place is None or not 0 < place.line <= len(lines) or not lines[place.line - 1]:
        return
    line = lines[place.line - 1]
    cut = len(line) - len(line.lstrip())
    end = place.end_column if place.end_line in (0, place.line) and place.end_column else len(line)
    start = max(place.column, cut)
    left = _left(line, cut, start)
    mark = " " * (start - left) + "^" * max(1, min(end, len(line), left + WIDE) - start)
    yield f"{place.line:>5} | {_window(line, left, cut)}"
    yield f"      | {mark}"


def changed_lines(diff: str) -> Iterator[str]:
    """What a change takes away and puts in; nothing when that is long."""
    listed = readable_diff(diff).splitlines()
    lines = [one for one in listed if one.startswith(("+", "-")) and one[:3] not in ("+++", "---")]
    if not lines or len(lines) > MOST_LINES:
        return
    cut = min(len(line[1:]) - len(line[1:].lstrip()) for line in lines)
    for line, changed in zip(lines, _differences(lines), strict=True):
        yield f"{line[0]} {_window(line[1:], _left(line[1:], cut, changed), cut)}"


def _differences(lines: Sequence[str]) -> list[int]:
    """For each line the first column in which it differs from the one in whose place it stands."""
    sides = {sign: iter([line[1:] for line in lines if line[0] == sign]) for sign in "-+"}
    found = []
    for line in lines:
        other = next(sides["+" if line[0] == "-" else "-"], line[1:])
        pairs = enumerate(zip(line[1:], other, strict=False))
        found.append(next((column for column, (one, two) in pairs if one != two), 0))
    return found


def _left(line: str, cut: int, wanted: int) -> int:
    """Where the shown part of a line begins, so that the wanted column is in it."""
    if len(line) - cut <= WIDE or wanted - cut < WIDE // 2:
        return cut
    return min(wanted - WIDE // 2, len(line) - WIDE)


def _window(line: str, left: int, cut: int) -> str:
    shown = line[left : left + WIDE]
    head = f"…{shown[1:]}" if left > cut else shown
    return f"{head[:-1]}…" if left + WIDE < len(line) else head
