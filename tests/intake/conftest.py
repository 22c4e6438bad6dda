"""A stand-in for GitHub on this machine, and small git histories."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reenact.intake.web import Web

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass
class Hub:
    """Answers by path, as GitHub would: status, headers, JSON. Remembers who asked for what."""

    api: str = ""
    answers: dict[str, tuple[int, dict[str, str], object]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def say(self, path: str, body: object, status: int = 200, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = (status, named, body)

    @property
    def web(self) -> Web:
        return Web(api=self.api, wall_s=20.0)


@pytest.fixture
def hub() -> Iterator[Hub]:
    stand_in = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            stand_in.asked.append((self.path, self.headers.get("Authorization", "")))
            missing = (404, {}, {"message": "Not Found"})
            status, headers, body = stand_in.answers.get(self.path, missing)
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            """Tests print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        stand_in.api = f"http://127.0.0.1:{server.server_port}"
        yield stand_in
        server.shutdown()
        thread.join()


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **IDENTITY},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def history(tmp_path: Path) -> tuple[Path, str, str]:
    """A work tree with two commits: the folder, the first and the second hash."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "net.py").write_text("width = 1\n")
    (folder / "link.py").symlink_to("/etc/passwd")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "net.py").write_text("width = 2\n")
    git(folder, "commit", "-q", "-am", "second")
    return folder, git(folder, "rev-parse", "HEAD~1"), git(folder, "rev-parse", "HEAD")
