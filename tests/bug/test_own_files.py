"""Only files that reenact wrote, and that nobody changed since, are written over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reenact.bug.own_files import LIST, NAMES, refuse_foreign, write_list
from reenact.errors import InputError

FILES = {"repro.py": b"print(1)\n", "REPORT.md": b"# Report\n"}


def write(out: Path) -> None:
    write_list(out, FILES)
    for name, content in FILES.items():
        (out / name).write_bytes(content)


def test_an_empty_folder_and_our_own_files_are_free(tmp_path: Path) -> None:
    out = tmp_path / "reproduction"
    refuse_foreign(out)
    write(out)
    refuse_foreign(out)
    (out / "notes.txt").write_text("of the user, and never written to")
    refuse_foreign(out)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_the_users_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("torch==2.1\n")
    with pytest.raises(InputError, match=f"{name} was not written by reenact") as refused:
        refuse_foreign(tmp_path)
    assert "--out OTHER" in refused.value.next_step


def test_a_file_of_ours_that_was_changed_is_not_ours_any_more(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "repro.py").write_text("print(2)\n")
    with pytest.raises(
        InputError, match=r"repro\.py was not written by reenact, or was changed since"
    ):
        refuse_foreign(tmp_path)


def test_a_planted_list_says_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    kept = json.loads((tmp_path / LIST).read_text())
    lists: list[object] = [
        {**kept, "mac": "0" * 64},
        {**kept, "mac": ""},
        {"files": kept["files"]},
        [],
        "x",
    ]
    for planted in lists:
        (tmp_path / LIST).write_text(json.dumps(planted))
        with pytest.raises(InputError, match="was not written by reenact"):
            refuse_foreign(tmp_path)


def test_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "reproduction").symlink_to("elsewhere")
    with pytest.raises(InputError, match="The output folder is a link"):
        refuse_foreign(tmp_path / "reproduction")
    write(tmp_path)
    (tmp_path / "REPORT.md").unlink()
    (tmp_path / "REPORT.md").symlink_to("elsewhere/REPORT.md")
    with pytest.raises(InputError, match=r"REPORT\.md was not written by reenact"):
        refuse_foreign(tmp_path)


def test_old_and_new_content_are_ours_while_the_files_are_written(
    tmp_path: Path,
) -> None:
    write(tmp_path)
    write_list(tmp_path, {**FILES, "repro.py": b"print(3)\n"})
    refuse_foreign(tmp_path)
    (tmp_path / "repro.py").write_bytes(b"print(3)\n")
    refuse_foreign(tmp_path)
