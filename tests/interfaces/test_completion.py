"""Shell completion: the scripts, and what they complete."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from reenact.cli.edge import guarded
from reenact.cli.main import SHELLS, completion


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_asks_reenact(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(completion, [shell]) == 0
    assert "_REENACT_COMPLETE" in capsys.readouterr().out


def test_a_shell_is_reported_the_verbs() -> None:
    reported = subprocess.run(
        [sys.executable, "-m", "reenact"],
        env=os.environ
        | {
            "_REENACT_COMPLETE": "bash_complete",
            "COMP_WORDS": "reenact re",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "plain,repair" in reported.stdout
    assert "plain,relay" in reported.stdout
