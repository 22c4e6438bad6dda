"""The client of a container engine, Docker or Podman: its commands, asked through the host-program
helper.

Below everything that runs boxes, so that a sweep can remove the container of an owner that is gone.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reenact.host_program import find_program, run_host_program
from reenact.plain import plain_text

ENGINES = ("docker", "podman")
_ANSWER_S = 60.0
"""An engine that has not answered a small question by then does not answer."""


_OF_THE_USER = re.compile(
    r"DOCKER_(?:HOST|CONTEXT|CONFIG|CERT_PATH|TLS_VERIFY|API_VERSION)|CONTAINER_(?:HOST|SSHKEY|CONNECTION)|"
    r"CONTAINERS_(?:CONF|STORAGE_CONF|REGISTRIES_CONF)|REGISTRY_AUTH_FILE|DBUS_SESSION_BUS_ADDRESS|"
    r"XDG_(?:RUNTIME_DIR|CONFIG_HOME|DATA_HOME|CACHE_HOME)|USER|LOGNAME|SSH_AUTH_SOCK"
)
"""Variables that docker and podman document for their clients; neither reads a file of the
current folder.
"""


class Answer(NamedTuple):
    """What the engine answered to one command."""

    ok: bool
    output: bytes
    complaint: str


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine on this machine."""

    path: str

    def ask(self, *words: str, given: bytes = b"") -> Answer:
        """Run one command of the engine and wait for its answer."""
        try:
            done = run_host_program(
                [self.path, *words],
                wall_s=_ANSWER_S,
                variables=engine_variables(),
                network=True,
                stdin=given,
            )
        except TimeoutError:
            return Answer(
                False,
                b"",
                f"no answer within {_ANSWER_S:g} s",
            )
        except OSError as error:
            return Answer(False, b"", str(error))
        return Answer(
            done.returncode == 0,
            done.stdout,
            plain_text(done.stderr[-2000:]).strip(),
        )

    def state(self, name: str) -> Mapping[str, object]:
        """The state of a container: Status, Pid, ExitCode, OOMKilled, Error. Empty when there
        is not one.
        """
        answer = self.ask("inspect", "--type", "container", name)
        try:
            state = {}
            if answer.ok:
                state = json.loads(answer.output)[0]["State"]
        except (ValueError, LookupError, TypeError):
            return {}
        return state if isinstance(state, dict) else {}


def engine_variables() -> dict[str, str]:
    """The user's own words about the engine: where its daemon listens, where its settings are."""
    return {name: value for name, value in os.environ.items() if _OF_THE_USER.fullmatch(name)}


def find_engines(names: Sequence[str] = ENGINES) -> tuple[Engine, ...]:
    """The engines that are installed; whether they answer is another question."""
    paths = (find_program(name) for name in names)
    return tuple(Engine(path) for path in paths if path is not None)


def remove_container(path: str, name: str) -> None:
    """Kill and remove a container, if it is there."""
    Engine(path).ask("rm", "--force", name)
