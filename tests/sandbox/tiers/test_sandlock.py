from __future__ import annotations

import sys
from pathlib import Path

import pytest

from contracts.sandbox import ContainmentContract, python
from reenact.sandbox.box import Command, Ending, Limits, Mount
from reenact.sandbox.tiers.sandlock import Sandlock

pytestmark = pytest.mark.skipif(bool(Sandlock().missing()), reason="sandlock does not work here")


class TestSandlock(ContainmentContract):
    @pytest.fixture
    def sandbox(self) -> Sandlock:
        return Sandlock()


def test_a_mount_it_cannot_show_is_its_own_failure(tmp_path: Path) -> None:
    result = Sandlock().run(Command(("true",), mounts=(Mount(tmp_path, "/data"),)), Limits())
    assert result.ending is Ending.SANDBOX_FAILED
    assert "cannot show" in result.why


def test_a_mount_in_the_work_folder_or_at_its_own_place_is_seen(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("data")
    program = "import sys; print(open('in/x').read(), open(sys.argv[1] + '/x').read())"
    mounts = (Mount(tmp_path, "/box/work/in"), Mount(tmp_path, str(tmp_path)))
    result = Sandlock().run(
        Command((sys.executable, "-c", program, str(tmp_path)), mounts=mounts), Limits()
    )
    assert result.output == "data data\n"


def test_the_users_number_inside_is_an_ordinary_one() -> None:
    assert Sandlock().run(python("import os; print(os.getuid())"), Limits()).output == "1000\n"
