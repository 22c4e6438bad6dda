"""What the opener hides is in no byte of the journal's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.journal import Journal, Kind

SECRET = "sk-canary-5f1d0c2b9e8a47d6b3"


def hide(text: str) -> str:
    return text.replace(SECRET, "[hidden]")


def test_no_text_that_is_written_holds_the_secret(folder: Path, tmp_path: Path) -> None:
    seen: list[object] = []

    def leaks() -> int:
        raise ConnectionError(f"401 for {SECRET}")

    def tell(journal: Journal) -> None:
        request = {"key": SECRET}
        with journal.run(
            pipeline="tale", request=request, argv=["x", SECRET], what=f"with {SECRET}"
        ) as run:
            seen.append(
                run.step(
                    "ask",
                    lambda: {
                        "text": f"I am {SECRET}",
                        SECRET: [SECRET.encode() + b"\xff\x00" * 2000],
                    },
                    kind=Kind.LLM,
                    inputs={"prompt": SECRET},
                )
            )
            run.note("output", f"x{SECRET}x")
            run.edit("report", tmp_path, {"report": b"the user's own file"})
            run.step("fails", leaks, kind=Kind.LLM)

    with Journal.open(folder, redact=hide) as journal:
        with pytest.raises(ConnectionError):
            tell(journal)
        # A later execution sees exactly what the first one saw.
        with journal.run(pipeline="tale", request={"key": SECRET}) as run:
            seen.append(run.step("ask", lambda: None, kind=Kind.LLM, inputs={"prompt": SECRET}))
            run.finish({"verdict": SECRET})
        journal._database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert (
        seen[0]
        == seen[1]
        == {"text": "I am [hidden]", "[hidden]": [b"[hidden]" + b"\xff\x00" * 2000]}
    )
    for path in folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_a_file_with_a_secret_is_edited_as_it_is_and_hidden_in_the_record(
    folder: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "config").write_text(f"key = {SECRET}")
    with (
        Journal.open(folder, redact=hide) as journal,
        journal.run(pipeline="tale", request=1) as run,
    ):
        run.edit("patch", work, {"config": f"key = {SECRET}\nlr = 1\n".encode()})
        run.finish(None)
    assert (work / "config").read_text() == f"key = {SECRET}\nlr = 1\n"
    for path in folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
