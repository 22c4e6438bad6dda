"""The folder of a box is removed within bounds: the owner waits so long, the rest goes on under
the lock.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from reenact.sandbox.box import Command, Ending, Limits
from reenact.sandbox.choose import choose
from reenact.sandbox.files.cleanup import remove_box
from reenact.sandbox.files.folder import BoxFolder, boxes, sweep
from waiting import wait_until

DEEP = """
import os
for _ in range({depth}):
    os.mkdir("d")
    os.chdir("d")
print("made", flush=True)
"""


def nest(folder: Path, depth: int) -> None:
    subprocess.run([sys.executable, "-c", DEEP.format(depth=depth)], cwd=folder, check=True)


def wait_until_removed(root: Path) -> None:
    wait_until(lambda: not boxes(root), f"the boxes in {root} to be removed")


def test_what_is_not_removed_in_time_is_named_and_removed_later(tmp_path: Path) -> None:
    folder = BoxFolder.make(tmp_path)
    nest(folder.work, 3000)
    (left,) = remove_box(folder.path, folder.lock, wait_s=0)
    assert "is still being removed" in left
    assert sweep(tmp_path) == (), "whoever sweeps meanwhile leaves it alone: its lock is held"
    wait_until_removed(tmp_path)


def test_many_deep_folders_at_once_all_vanish(tmp_path: Path) -> None:
    folders = [BoxFolder.make(tmp_path) for _ in range(7)]
    for folder in folders:
        nest(folder.work, 300)
    for folder in folders:
        remove_box(folder.path, folder.lock, wait_s=0)
    wait_until_removed(tmp_path)


def test_an_owner_that_ends_before_the_removal_leaves_it_to_the_next_sweep(
    tmp_path: Path,
) -> None:
    nested = (
        "import sys; from pathlib import Path; from reenact.sandbox.files.folder import BoxFolder\n"
        "from reenact.sandbox.files.cleanup import remove_box\n"
        "import os; folder = BoxFolder.make(Path(sys.argv[1])); os.chdir(folder.work)\n"
        + DEEP.format(depth=6000)
        + "remove_box(folder.path, folder.lock, wait_s=0)\n"
    )
    subprocess.run(
        [sys.executable, "-c", nested, str(tmp_path)],
        check=True,
        env={**os.environ, "LANG": "C"},
    )
    assert len(boxes(tmp_path)) == 1
    sweep(tmp_path)
    wait_until_removed(tmp_path)


def test_a_box_with_a_deep_tree_ends_and_its_folder_goes() -> None:
    program = DEEP.format(depth=4000).encode()
    ended = choose().run(Command(("python3", "p.py"), files={"p.py": program}), Limits(wall_s=120))
    assert ended.ending is Ending.OK, ended
    assert ended.output == "made\n"
    wait_until(lambda: not _mine(), "the folder of the box to be removed")


def _mine() -> list[str]:
    return [name for name in boxes() if name.startswith(f"{os.getpid()}-")]
