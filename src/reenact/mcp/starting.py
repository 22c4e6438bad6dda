"""Tools that start long work: the verb that a person would type, in the background."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import anyio
from mcp.server.mcpserver import MCPServer
from pydantic import Field

from reenact.errors import InputError
from reenact.mcp.answers import RunTold
from reenact.mcp.permits import Permits, in_sentences
from reenact.mcp.run_service import STARTING, RunService
from reenact.mcp.tools import CHANGES, WORKS, Words, tool
from reenact.mcp.words import Model, checked_file, model_words, options, program_words

LOOK_S = 0.25
FIRST_LOOK_S = 8.0
"""How long a start waits for the run to show up in the journal, so that its answer has an id."""
Program = Annotated[str, Field(description="The user's training script or notebook.")]
Arguments = Annotated[tuple[str, ...], Field(description="What the program itself is given.")]
WhichModel = (
    "anthropic:NAME, ollama:NAME, ...; `mcp`: you, or the client's model; empty: the one that is set."
)
ModelName = Annotated[str, Field(description=WhichModel)]
Money = Annotated[float | None, Field(gt=0, description="US dollars that models may cost.")]


class Starter:
    """Starts a verb when that is allowed, and says how the job stands."""

    def __init__(self, service: RunService, permits: Permits) -> None:
        self.service = service
        self.permits = permits

    async def begin(self, story: str, words: Sequence[str], behind: Sequence[str], model: Model) -> RunTold:
        """`reenact STORY WORDS --model ... BEHIND`."""
        with in_sentences():
            self.permits.for_running(f"`reenact {story}`")
            asking = model_words(model, (story, *words, *behind), self.service.jobs.folder)
            line = (story, "--output-format=json", *words, *asking, *behind)
            return await self.follow(self.service.jobs.start(story, line).id)

    async def follow(self, job: str) -> RunTold:
        """How a new job stands once it has begun to record, or has ended."""
        until = time.monotonic() + FIRST_LOOK_S
        while True:
            told = await anyio.to_thread.run_sync(self.service.told, job)
            if told.status != STARTING or time.monotonic() >= until:
                return told
            await anyio.sleep(LOOK_S)


def add_starting(server: MCPServer[Any], starter: Starter) -> None:
    """start_diagnose, start_repair, start_bug, start_paper."""
    permits = starter.permits

    @tool(server, WORKS)
    async def start_diagnose(
        program: Program,
        arguments: Arguments = (),
        depth: Literal["quick", "normal", "deep"] = "quick",
        select: Words = (),
        ignore: Words = (),
        budget: Annotated[str, Field(description="Trainings (40) or time (5m), for normal and deep.")] = "",
        metric: str = "",
        model: ModelName = "",
        max_cost: Money = None,
    ) -> RunTold:
        """Run a training under the probe and say what is wrong, at which layer and line; normal and deep also
        change the suspects and train. Long: poll it."""
        with in_sentences():
            behind = program_words(program, arguments)
        given = {"depth": depth, "select": select, "ignore": ignore, "budget": budget, "metric": metric}
        return await starter.begin("diagnose", options(given), behind, Model(model, max_cost))

    @tool(server, CHANGES)
    async def start_repair(
        program: Program,
        arguments: Arguments = (),
        strategy: str = "guided",
        budget: Annotated[str, Field(description="Multiple of one training (20x), a time, or 40t.")] = "20x",
        metric: str = "",
        seeds: Annotated[int, Field(ge=6, le=100)] = 10,
        apply: Annotated[
            bool, Field(description="Write a change that held into the files, with a backup.")
        ] = False,
        branch: Annotated[str, Field(description="With apply: a new git branch instead.")] = "",
        model: ModelName = "",
        max_cost: Money = None,
    ) -> RunTold:
        """Find the smallest change that makes a training significantly better on fresh seeds. Long: poll it.
        The same call with apply=True after a repair takes what was recorded and only writes."""
        with in_sentences():
            if apply:
                permits.for_applying()
            behind = program_words(program, arguments)
        given = {"strategy": strategy, "budget": budget, "metric": metric, "seeds": seeds}
        words = options({**given, "apply": apply, "branch": branch if apply else ""})
        return await starter.begin("repair", words, behind, Model(model, max_cost))

    @tool(server, WORKS)
    async def start_bug(
        report: Annotated[str, Field(description="A file, or a GitHub issue: address or owner/name#number.")],
        repo: Annotated[str, Field(description="The project: folder, archive, git bundle or https address.")],
        commit: str = "",
        fixed: Annotated[str, Field(description="A revision without the bug.")] = "",
        out: Annotated[str, Field(description="Folder for repro.py and REPORT.md.")] = "reproduction",
        seeds: Annotated[int, Field(ge=1, le=50)] = 5,
        model: ModelName = "mcp",
        max_cost: Money = None,
    ) -> RunTold:
        """Write a script that shows a reported bug, proven by running it in the sandbox. Long: poll it."""
        given = {"repo": repo, "commit": commit, "fixed": fixed, "out": out, "seeds": seeds}
        with in_sentences():
            behind = ("--", _document(report))
        return await starter.begin("bug", options(given), behind, Model(model, max_cost))

    @tool(server, WORKS)
    async def start_paper(
        paper: Annotated[
            str, Field(description="arXiv id, LaTeX folder or archive, HTML, Markdown, PDF, text.")
        ],
        task: Annotated[str, Field(description="What of it to reproduce; empty: all of it.")] = "",
        method: Annotated[str, Field(description="By the paper's name for it.")] = "",
        metric: Annotated[str, Field(description="The metric that counts.")] = "",
        dataset: Annotated[str, Field(description="By the paper's name for it.")] = "",
        instruction: Annotated[str, Field(description="Anything else that the code must keep to.")] = "",
        data: Annotated[str, Field(description="A folder of data, read-only to the code.")] = "",
        library: Annotated[str, Field(description="A folder of cited papers and their code.")] = "",
        out: str = "reproduction",
        seeds: Annotated[int, Field(ge=1, le=20)] = 3,
        scale: Annotated[float, Field(gt=0, le=1, description="Share of the paper's training to do.")] = 1.0,
        model: ModelName = "mcp",
        max_cost: Money = None,
    ) -> RunTold:
        """Turn a paper into code that runs in the sandbox and state the gap to its numbers. Long: poll it."""
        goal = {"task": task, "method": method, "metric": metric, "dataset": dataset}
        given = {
            **goal, "instruction": instruction, "data": data, "library": library, "out": out, "seeds": seeds,
            "scale": scale,
        }  # fmt: skip
        with in_sentences():
            behind = ("--", _document(paper))
        return await starter.begin("paper", options(given), behind, Model(model, max_cost))


def _document(source: str) -> str:
    """A report or a paper: a file that is there, or an address; never our own stdin."""
    if source.strip() in ("", "-"):
        raise InputError(f"Name a file or an address. Received: {source!r}.")
    return source if not source.startswith("-") else checked_file(source)
