"""News: a page hears of a change, and of the end."""

from __future__ import annotations

import http.client
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from reenact.journal import Journal, Kind
from reenact.web.serve import serving


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def listening(address: str, path: str) -> Generator[str]:
    """Lines of an event stream, to its end."""
    parts = urlsplit(address)
    entering = http.client.HTTPConnection(parts.netloc, timeout=30)
    entering.request("GET", f"{parts.path}?{parts.query}")
    cookie = str(entering.getresponse().getheader("set-cookie")).partition(";")[0]
    entering.close()
    stream = http.client.HTTPConnection(parts.netloc, timeout=30)
    stream.request("GET", path, headers={"Cookie": cookie})
    answer = stream.getresponse()
    assert answer.getheader("content-type", "").startswith("text/event-stream")
    try:
        while line := answer.readline():
            yield line.decode().strip()
    finally:
        stream.close()


def test_a_run_tells_of_its_steps_and_its_end(folder: Path) -> None:
    with Journal.open(folder) as journal, serving(folder) as address:
        with journal.run(pipeline="repair", request={}) as run:
            lines = listening(address, f"/live/{run.record.id}")
            assert next(lines) == "retry: 3000"
            assert "event: changed" in (next(lines) for _ in range(4))
            run.step("one", lambda: 1, kind=Kind.TRIAL)
            assert "event: changed" in (next(lines) for _ in range(4))
            run.finish({"verdict": "done"})
        assert "event: ended" in lines


def test_the_list_tells_of_a_new_run(folder: Path) -> None:
    with Journal.open(folder) as journal, serving(folder) as address:
        lines = listening(address, "/live?seen=nothing")
        assert next(lines) == "retry: 3000"
        with journal.run(pipeline="repair", request={}) as run:
            assert "event: changed" in (next(lines) for _ in range(4))
            run.finish(None)
        lines.close()
