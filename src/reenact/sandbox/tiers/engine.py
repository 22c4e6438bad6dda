"""Talks to a container engine, Docker or Podman, through its command line."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reenact.plain import plain_text

ENGINES = ("docker", "podman")
_ANSWER_S = 60.0
"""An engine that has not answered a small question by then does not answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine answered to one command."""

    ok: bool
    output: bytes
    complaint: str


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine on this machine."""

    path: str

    @property
    def is_podman(self) -> bool:
        return self.path.rpartition("/")[2].startswith("podman")

    def ask(self, *words: str, given: bytes = b"") -> Answer:
        """Run one command of the engine and wait for its answer."""
        try:
            done = subprocess.run(  # noqa: S603 - the engine itself
                [self.path, *words], input=given, capture_output=True, check=False, timeout=_ANSWER_S
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Answer(False, b"", str(error))
        return Answer(done.returncode == 0, done.stdout, plain_text(done.stderr[-2000:]).strip())

    def state(self, name: str) -> Mapping[str, object]:
        """The state of a container: Status, Pid, ExitCode, OOMKilled, Error. Empty when there is none."""
        answer = self.ask("inspect", "--type", "container", name)
        if not answer.ok:
            return {}
        try:
            found = json.loads(answer.output)
            state = found[0]["State"]
        except (ValueError, LookupError, TypeError):
            return {}
        return state if isinstance(state, dict) else {}


def find_engines(names: Sequence[str] = ENGINES) -> tuple[Engine, ...]:
    """The engines that are installed; whether they answer is another question."""
    paths = (shutil.which(name) for name in names)
    return tuple(Engine(path) for path in paths if path is not None)


def remove_container(path: str, name: str) -> None:
    """Kill and remove a container, if it is there."""
    Engine(path).ask("rm", "--force", name)
