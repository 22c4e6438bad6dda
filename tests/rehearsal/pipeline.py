"""The rehearsal: a small real pipeline with every kind of effect, for the crash matrix and the
demonstration.

A training that learns too slowly is looked at in a box, a model proposes learning rates, each is
tried over seeds, the best one is written into two files, and before and after are measured on a
seed nobody tried. It is a pipeline like the others: kill it anywhere, run it again, and it
continues.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.errors import Inconclusive, SandboxFailed, Stopped
from reenact.journal import Journal, Kind, OpenRun
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.own_process import crash_point
from reenact.sandbox.box import BoxResult, Command, Ending, Limits, Sandbox
from reenact.sandbox.files.results import read_json
from reenact.types import ExitCode, Progress, Stop, Tell, tell_nobody

SLOW: Mapping[str, Any] = {"learning_rate": 0.0001, "epochs": 60}
TRIED_SEEDS = (1, 2)
UNTRIED_SEED = 9
STEPS = 6
"""Parts of it that are reported as progress."""


class Plan(BaseModel):
    """What the model is asked for."""

    learning_rates: list[float] = Field(min_length=2, max_length=2)
    why: str


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How it ended. Nothing in it depends on when, where or how often it was interrupted."""

    verdict: str
    learning_rate: float
    before: float
    after: float
    report: Path


def rehearse(
    folder: Path,
    *,
    journal: Journal,
    model: Model,
    sandbox: Sandbox,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
    fresh: bool = False,
) -> Rehearsal:
    """Rehearse in `folder`, continuing where an earlier execution ended."""
    with journal.run(
        pipeline="rehearsal",
        request={
            "settings": SLOW,
            "seeds": [*TRIED_SEEDS, UNTRIED_SEED],
            "model": model.name,
        },
        what="a line that learns too slowly",
        fresh=fresh,
    ) as run:
        stage = Stage(folder / "work", run, model, sandbox, tell, stop or Stop())
        stage.write_program()
        loss = stage.look()
        plan = stage.plan(loss)
        rate = stage.try_out(plan)
        stage.patch(rate, plan)
        before, after = stage.verify(rate)
        verdict = "repaired" if after < before / 2 else "not repaired"
        found = Rehearsal(verdict, rate, before, after, folder / "report.md")
        run.edit("report", folder, {found.report.name: _report(found, plan, loss).encode()})
        code = ExitCode.OK if found.verdict == "repaired" else ExitCode.FOUND
        run.finish({"verdict": found.verdict, "before": before, "after": after}, code)
    return found


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything the parts of it need."""

    work: Path
    run: OpenRun
    model: Model
    sandbox: Sandbox
    tell: Tell
    stop: Stop

    def write_program(self) -> None:
        """Two files, both or none of them."""
        self._say(1, "write the program")
        text = {"train.py": _program(), "settings.json": _json(SLOW)}
        self.run.edit("program", self.work, text)

    def look(self) -> float:
        """One training as it is, in the sandbox."""
        self._say(2, "train once in the sandbox")
        return self.measure("look", SLOW, TRIED_SEEDS[0])

    def plan(self, loss: float) -> Plan:
        """A typed proposal of the model."""
        self._say(3, "ask the model for a plan")
        prompt = load_prompt("rehearsal", "plan.md")
        filled = prompt.fill(loss=loss, settings=json.dumps(dict(SLOW)))
        return ask(self.run, self.model, "plan", filled, Plan)

    def try_out(self, plan: Plan) -> float:
        """Every proposed rate over the seeds; the best by mean loss."""
        self._say(4, "try the proposals over seeds")
        wanted = {
            f"rate{number}-seed{seed}": (rate, seed)
            for number, rate in enumerate(plan.learning_rates)
            for seed in TRIED_SEEDS
        }
        trials = self.run.under("trials")

        def train(names: tuple[str, ...]) -> Iterator[Mapping[str, float]]:
            for name in names:
                rate, seed = wanted[name]
                yield {name: self.train(trials.path(name), {**SLOW, "learning_rate": rate}, seed)}

        losses = trials.many(
            {name: [_program(), SLOW, *pair] for name, pair in wanted.items()}, train
        )
        means = {
            rate: fmean(losses[name] for name, (tried, _) in wanted.items() if tried == rate)
            for rate in plan.learning_rates
        }
        return min(means, key=lambda rate: means[rate])

    def patch(self, rate: float, plan: Plan) -> None:
        """The change itself: settings and its reason, two files again."""
        self._say(5, "change the settings")
        notes = f"learning_rate {SLOW['learning_rate']} -> {rate}: {plan.why}\n"
        changed = {
            "settings.json": _json({**SLOW, "learning_rate": rate}),
            "CHANGES.md": notes.encode(),
        }
        self.run.edit("patch", self.work, changed)

    def verify(self, rate: float) -> tuple[float, float]:
        """Measured on a seed that nobody tried, before and after."""
        self._say(6, "measure before and after")
        before = self.measure("verify/before", SLOW, UNTRIED_SEED)
        crash_point("C15")
        return before, self.measure("verify/after", {**SLOW, "learning_rate": rate}, UNTRIED_SEED)

    def measure(self, name: str, settings: Mapping[str, Any], seed: int) -> float:
        """The loss of one training, as a step of its own."""
        path = self.run.path(name)
        inputs = {"program": _program(), "settings": settings, "seed": seed}
        return self.run.step(
            name, lambda: self.train(path, settings, seed), kind=Kind.BOX, inputs=inputs
        )

    def train(self, path: str, settings: Mapping[str, Any], seed: int) -> float:
        """The loss of one training in a fresh box; what is not about the program is no loss."""
        command = Command(
            argv=("python3", "train.py", path, self.work.parent.name),
            files={
                "train.py": _program(),
                "settings.json": _json({**settings, "seed": seed}),
            },
            collect=("out.json",),
        )
        return _loss(self.sandbox.run(command, Limits(wall_s=60), stop=self.stop))

    def _say(self, done: int, what: str) -> None:
        if self.stop.asked:
            raise Stopped("Stopped between two steps of the rehearsal.")
        self.tell(Progress("rehearsal", done, STEPS, what))


def _program() -> bytes:
    return Path(__file__).with_name("train.py").read_bytes()


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(dict(value), indent=1).encode() + b"\n"


def _loss(result: BoxResult) -> float:
    if result.ending is Ending.CANCELLED:
        raise Stopped("Stopped while a training ran.")
    if not result.ending.is_evidence:
        raise SandboxFailed(f"The training could not be run: {result.ending}, {result.why}.")
    measured = read_json(result.results["out.json"]) if result.ok else None
    loss = measured.get("loss") if isinstance(measured, dict) else None
    if not isinstance(loss, int | float):
        raise Inconclusive(
            f"The training gave no loss: {result.ending}. It printed: {result.output[-200:]}"
        )
    return float(loss)


def _report(found: Rehearsal, plan: Plan, loss: float) -> str:
    return (
        f"# Rehearsal: {found.verdict}\n\n"
        f"A training with learning rate {SLOW['learning_rate']} ended with loss {loss}.\n"
        f"The model proposed {', '.join(map(str, plan.learning_rates))}: {plan.why}\n\n"
        "| seed nobody tried | learning rate | loss |\n|---|---|---|\n"
        f"| before | {SLOW['learning_rate']} | {found.before} |\n"
        f"| after | {found.learning_rate} | {found.after} |\n"
    )
