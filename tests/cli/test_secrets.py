"""Secrets that a program prints, raises and is given are in no byte of any file that reenact
writes.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.jobs import redacted_log, wait_until_written
from reenact.journal import Journal
from reenact.report.document import Diagnostic, Document, Facts, Level, Text
from reenact.report.render import FORMATS, render

pytestmark = pytest.mark.usefixtures("warm_python")

NAMES = (
    "OPENAI_API_KEY",
    "DB_PASS",
    "PGPASSWORD",
    "MYSQL_PWD",
    "SERVICE_AUTH",
    "MY_TOKEN",
    "SIGNINGKEY",
    "APP_SECRET",
    "LOGIN_PASSPHRASE",
    "CLOUD_CREDENTIAL",
)
CANARIES = {
    name: f'cana"ry&{number}-{name[::-1].lower()}-7f3a' for number, name in enumerate(NAMES)
}
SHAPED = "x_sk-canary0123456789abcdef"
LATE = "late-canary-91827364"
PROGRAM = f"""import os, sys
import torch
os.environ["LATE_TOKEN"] = "late-" + "canary-91827364"
secrets = [os.environ[name] for name in {NAMES!r}] + [os.environ["LATE_TOKEN"], sys.argv[1]]
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).square().mean().backward()
    optimizer.step()
    print("loss 0.5", *secrets, file=sys.stderr)
    print("epoch", step, "loss 0.5", *secrets)
raise RuntimeError(" ".join(secrets))
"""


def leaks(folder: Path) -> list[str]:
    """Files with a raw secret in them, also as JSON or HTML writes it."""
    forms = [form for value in CANARIES.values() for form in (value, value.replace('"', '\\"'))]
    forms += [value.replace('"', "&quot;").replace("&", "&amp;") for value in CANARIES.values()]
    needles = [form.encode() for form in (*forms, SHAPED.removeprefix("x_"), LATE)]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [str(path) for path in files if any(needle in path.read_bytes() for needle in needles)]


def test_no_file_of_a_diagnosis_holds_a_secret_and_all_are_private(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text(PROGRAM)
    arguments = ["diagnose", "--max-time", "300", "--output-format", "html", "train.py"]
    words = [*arguments, SHAPED, CANARIES["DB_PASS"]]
    ended = subprocess.run(
        [sys.executable, "-m", "reenact", *words],
        cwd=work,
        env={**os.environ, **CANARIES},
        capture_output=True,
        check=False,
        umask=0,
    )
    assert b"RuntimeError" in ended.stdout, ended.stderr
    (work / "train.py").unlink()
    (tmp_path / "report.html").write_bytes(ended.stdout)
    with Journal.open(work / ".reenact") as journal:
        journal.export(journal.find("last"), tmp_path / "out.run")
        journal._database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert (list((work / ".reenact" / "traces").glob("*/ending.json"))) != []
    assert leaks(tmp_path) == []
    for path in [
        *(work / ".reenact").rglob("*"),
        work / ".reenact",
        tmp_path / "out.run",
    ]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


@pytest.mark.parametrize("output_format", FORMATS)
def test_no_format_shows_a_secret(
    output_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LATE_TOKEN", LATE)
    text = " ".join([*CANARIES.values(), SHAPED, LATE])
    document = Document(
        "watch",
        text,
        text,
        (Text(text, text), Facts(text, ((text, text),))),
        (
            Diagnostic(
                "RE001",
                "name",
                Level.ERROR,
                text,
                next_step=text,
                source=text,
                reasons=((text, text),),
            ),
        ),
        {"deep": [{text: text}]},
    )
    (tmp_path / "report").write_text(render(document, output_format, width=10_000))
    assert leaks(tmp_path) == []


def test_the_log_of_a_started_command_holds_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    log = tmp_path / "view" / "1.log"
    code = (
        f"import os; print('begin', *[os.environ[name] for name in {NAMES!r}], '{SHAPED}', 'end')"
    )
    with redacted_log(log) as output:
        child = subprocess.Popen([sys.executable, "-c", code], stdout=output)
    assert child.wait() == 0
    wait_until_written(log)
    assert log.read_text().startswith("begin [redacted]")
    assert log.read_text().endswith("x_[redacted] end\n")
    assert leaks(tmp_path) == []
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
