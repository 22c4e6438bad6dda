"""The documentation of a rule, read from its docstring: the same text is page, `explain` and SARIF help."""

import inspect
import re
import sys
from dataclasses import dataclass
from textwrap import fill

from reenact.errors import InputError
from reenact.rules.rule import Rule

SECTIONS = ("What", "Why", "Symptom", "Example", "Instead", "Fix safety", "Sources")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)})\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A rule's docstring in its parts."""

    title: str
    sections: dict[str, str]

    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in SECTIONS if not self.sections.get(name, "").strip())


def reading(rule: Rule) -> Reading:
    """The parts of the docstring of a rule's class, else of its file: headings stand alone on a line, text
    below is indented. `{paper}` in Sources stands for the paper of the rule's family, named in its package.

    Instead is a whole program, or the lines in which it differs from Example, marked as in a diff: `- ` goes,
    `+ ` comes, two spaces stay and say where."""
    module = sys.modules[type(rule).__module__]
    own = vars(type(rule)).get("__doc__") or module.__doc__ or ""
    parts = _HEADING.split(inspect.cleandoc(own) + "\n")
    bodies = zip(parts[1::2], parts[2::2], strict=True)
    sections = {name: inspect.cleandoc("\n" + body) for name, body in bodies}
    if re.search(r"^[-+] ", sections.get("Instead", ""), re.MULTILINE):
        sections["Instead"] = _changed(rule, sections["Example"], sections["Instead"])
    if "{paper}" in sections.get("Sources", ""):
        paper = (sys.modules[module.__name__.rpartition(".")[0]].__doc__ or "").partition("\n\n")[2]
        sections["Sources"] = fill(sections["Sources"].replace("{paper}", paper), 102, break_on_hyphens=False)
    return Reading(parts[0].strip(), sections)


def _changed(rule: Rule, program: str, diff: str) -> str:
    lines = iter(program.splitlines())
    result: list[str] = []
    for edit in diff.splitlines():
        mark, text = edit[:2], edit[2:]
        if mark == "+ ":
            result.append(text)
            continue
        for line in lines:
            if line == text:
                break
            result.append(line)
        else:
            raise InputError(f"{rule.code}: Instead changes a line that Example does not have: {text!r}.")
        if mark != "- ":
            result.append(text)
    return "\n".join([*result, *lines])
