"""The project made ready to run before a model is asked: an environment in which it can be imported,
what it must be built for, or why neither can be had here.

The versions that a report names are read from its text first; when a model has put the report in
order, its versions count, and are proven in the same way.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path

from reenact.bug.compiled import built
from reenact.bug.declared import named_extras
from reenact.bug.environment import AUTO, HERE, NAMES, prepare
from reenact.bug.importable import prove_import
from reenact.bug.options import BugOptions
from reenact.bug.report import Installed
from reenact.bug.script_runner import Revision, ScriptRunner
from reenact.codegen.environment import Environment
from reenact.codegen.runner import ProjectRunner
from reenact.errors import InputError, ReenactError, Stopped
from reenact.journal import Scope
from reenact.sandbox.environments.names import WELL_KNOWN, Allowed
from reenact.sandbox.environments.prepare import Environments
from reenact.types import Stop

_STATED = re.compile(
    r"(?im)\b(?P<name>[a-z][a-z0-9_.-]{1,40}?)(?:[ \t]+version)?[ \t]*"
    r"(?:[:=]+|[ \t])[ \t]*v?(?P<version>\d+\.\d+(?:\.\d+)*)\b"
)
"""`torch==2.1.0`, `Python version: 3.8.10`, `numpy 1.22`."""


def stated_versions(text: str) -> tuple[Installed, ...]:
    """The versions of well-known packages and of Python that a report spells, each once."""
    found: dict[str, Installed] = {}
    for match in _STATED.finditer(text):
        name = match["name"].lower()
        if name == "python" or NAMES.get(name, name) in WELL_KNOWN:
            found.setdefault(name, Installed(package=name, version=match["version"]))
    return tuple(found.values())


@dataclass
class Preparation:
    """Makes environments and revisions in which a project can be imported."""

    boxes: ProjectRunner
    options: BugOptions
    environments: Environments | None
    day: date | None
    report: str
    """The words of the report: what it speaks of itself is not judged here."""
    folder: Path
    """Where projects are laid that had to be built."""
    say: Callable[[str], None]
    stop: Stop
    needs_build: bool = False
    notes: list[str] = field(default_factory=list)

    def first(self, buggy: Revision, run: Scope) -> tuple[ScriptRunner, Revision, str]:
        """Before the first question: a runner, the revision as it runs, and why it cannot be
        imported here; empty where it can.
        """
        stated = stated_versions(self.report)
        try:
            # What this interpreter has is enough to ask whether the project can be imported.
            plain = self.options.environment == AUTO
            environment = None
            if plain:
                extras = named_extras(buggy.files, self.report)
                environment = prepare(buggy.files, (), self.day, self.options, None, extras=extras)
        except InputError:
            environment = None
        build = partial(self._environment, buggy, stated)
        return self._proven(environment or build(), build, buggy, run.under("first"))

    def second(
        self, before: ScriptRunner, buggy: Revision, reported: Sequence[Installed], absent: str
    ) -> ScriptRunner:
        """With the versions of the report as it was put in order, and what was repaired before."""
        build = partial(self._environment, buggy, reported, absent=absent)
        missing = [one for one in before.missing if one.partition(".")[0] != absent]
        environment = build(missing=tuple(missing)) if missing else build()
        return self._runner(environment, build, missing)

    def proven(
        self, before: ScriptRunner, after: ScriptRunner, buggy: Revision, run: Scope
    ) -> ScriptRunner:
        """The second runner where the project can be imported with it, else the first."""
        if before.environment.key == after.environment.key:
            return after
        why = prove_import(after, buggy, run.under("second"), self.report, self.say).why
        if not why:
            return after
        self.notes.append(f"Not with the versions of the report: {why}.")
        return before

    def as_built(self, revision: Revision, environment: Environment) -> Revision:
        """The revision with what a build makes, where the project needs that. InputError where it
        cannot be built.
        """
        if not self.needs_build or self.environments is None:
            return revision
        self.say("build the project in the sandbox")
        folder = self.folder / str(len(list(self.folder.iterdir())))
        folder.mkdir()
        allowed = Allowed.usual(*self.options.packages)
        return built(revision, environment, self.environments, allowed, folder, self.stop)

    def _proven(
        self,
        environment: Environment,
        build: Callable[..., Environment],
        buggy: Revision,
        run: Scope,
    ) -> tuple[ScriptRunner, Revision, str]:
        runner = self._runner(environment, build, [])
        seen = prove_import(runner, buggy, run, self.report, self.say)
        if not seen.needs_build or self.environments is None:
            return runner, buggy, seen.why
        self.needs_build = True
        try:
            made = self.as_built(buggy, runner.environment)
        except Stopped:
            raise
        except ReenactError as error:
            next_step = f" ({error.next_step})" if error.next_step else ""
            sentence = error.sentence.rstrip(".")
            return runner, buggy, f"{seen.why}; building it failed: {sentence}{next_step}"
        self.notes.append("The project was built in the sandbox: it cannot be imported without.")
        again = prove_import(runner, made, run.under("built"), self.report, self.say)
        return runner, made, again.why

    def _runner(
        self, environment: Environment, build: Callable[..., Environment], missing: list[str]
    ) -> ScriptRunner:
        rebuilds = self.environments is not None and self.options.environment != HERE
        stubs = self.options.stubs
        rebuild = build if rebuilds else None
        return ScriptRunner(self.boxes, environment, stubs, rebuild=rebuild, missing=missing)

    def _environment(
        self,
        buggy: Revision,
        reported: Sequence[Installed],
        *,
        missing: Sequence[str] = (),
        absent: str = "",
    ) -> Environment:
        return prepare(
            buggy.files,
            reported,
            self.day,
            self.options,
            self.environments,
            missing=missing,
            absent=absent,
            extras=named_extras(buggy.files, self.report),
        )
