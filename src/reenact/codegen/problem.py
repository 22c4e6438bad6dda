"""One thing wrong with generated code, in words for whoever wrote it, and what tells two of them alike."""

import re
from dataclasses import dataclass

from reenact.llm.prompts import steady

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where."""

    where: str
    """The check that objects, as its pipeline names it: `static analysis`, `training on one batch`."""
    sentence: str
    file: str = ""
    """Empty for code of one file, or when it is about the whole project."""
    line: int = 0
    """0 when it is about the whole file or project."""
    output: str = ""
    """The end of what the run printed, where there was one."""

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        where = f"{self.file}{line}" if self.file else line.replace(":", "line ")
        return f"{where}: {self.sentence}" if where else self.sentence

    @property
    def signature(self) -> str:
        """The same for the same mistake: without folders, times, addresses and numbers."""
        return _NUMBER.sub("N", steady(f"{self.where}|{self.file}|{self.sentence}"))[:600]


def problems_text(problems: tuple[Problem, ...]) -> str:
    """Problems as a model sees them."""
    return "\n".join(f"- while {one.where}: {one}" for one in problems) or "none"


def last_output(problems: tuple[Problem, ...]) -> str:
    """What the failed run printed last."""
    return next((one.output for one in problems if one.output), "") or "nothing"
