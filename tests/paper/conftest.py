"""A small paper with an equation, two tables, results in three places, and a sentence that
gives orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reenact.intake.papers.paper import Paper
from reenact.intake.papers.read import read_paper
from reenact.journal import Journal, OpenRun
from reenact.sandbox.choose import choose


@pytest.fixture(scope="session")
def paper() -> Paper:
    return read_paper(str(Path(__file__).with_name("gentle.md")), box=choose(trust_code=True))


@pytest.fixture
def run() -> Iterator[OpenRun]:
    with Journal.in_memory().run(pipeline="paper", request={"paper": "gentle"}, argv=()) as run:
        yield run
