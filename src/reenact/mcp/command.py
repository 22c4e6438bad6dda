"""A short verb of the command line, run in a process of its own; its JSON is the answer.

A process of its own, because this one speaks the protocol on its stdout, and because whatever a verb reads
cannot then bring the server down.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from reenact.errors import InputError
from reenact.own_process import own_command, own_environment
from reenact.types import ExitCode

LONGEST_S = 120.0
SAID = 2_000
"""Letters of a complaint that are passed on."""


def reenact(words: Sequence[str]) -> tuple[str, ...]:
    """The argument vector that runs a verb with this interpreter."""
    return tuple(own_command(*words))


def printed(words: Sequence[str]) -> str:
    """What a verb prints. InputError with its complaint when it cannot do its work."""
    try:
        ended = subprocess.run(  # noqa: S603  our own command line, no shell
            reenact(words),
            env=own_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"`reenact {words[0]}` took longer than {LONGEST_S:.0f} s.",
            next_step="Name fewer or smaller files.",
        ) from None
    # A verb that has an answer prints it, whatever its exit code says of the answer.
    if ended.returncode not in (ExitCode.OK, ExitCode.FOUND) and not ended.stdout.strip():
        said = ended.stderr.decode("utf-8", "replace").strip()
        raise InputError(said[-SAID:] or f"`reenact {words[0]}` ended with exit code {ended.returncode}.")
    return ended.stdout.decode("utf-8", "replace")


def asked(verb: Sequence[str], *words: str) -> Mapping[str, Any]:
    """The JSON document of a verb; `words` stand behind its options."""
    document = json.loads(printed((*verb, "--output-format", "json", *words)))
    assert isinstance(document, dict)
    return document
