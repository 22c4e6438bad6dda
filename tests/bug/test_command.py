"""`reenact bug` as a user meets it: a repository, recorded answers, formats, wrong usage, kill
-9.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reenact as reenact_package
from reenact.bug.generate import Draft, Revision
from reenact.bug.report import BugReport, Plan
from reenact.bug.symptom import Symptom
from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from reenact.llm.ask import Prompt, Request, Text
from reenact.llm.recording import Recorder
from reenact.llm.scripted import Scripted

GIT = (
    "git",
    "-c",
    "user.name=Maintainer",
    "-c",
    "user.email=maintainer@example.org",
    "-c",
    "commit.gpgsign=false",
)
SCRIPT = "from acme import Meter\n\nprint('hello')\nmeter = Meter(3)\nmeter.mean()\n"
REPORT = (
    "Meter crashes\n\nAsked for the mean at once it says\nZeroDivisionError: division by zero\n"
)
ANSWERS = {
    "bug/restructure": {
        "title": "Meter crashes",
        "observed": "It raises.",
        "expected": "0.0",
        "steps": ["ask"],
    },
    "bug/symptom": {
        "kind": "explicit",
        "sign": "crash",
        "words": "Meter.mean raises ZeroDivisionError.",
        "explicit": {"exception": "ZeroDivisionError", "message": "division by zero"},
    },
    "bug/context[0]/plan": {
        "idea": "Ask at once.",
        "steps": ["Meter(3)"],
        "closing": "mean raises",
    },
    "bug/context[0]/attempt[0]/script": {
        "script": "from acme import Meter\n\nMeter(size=3).mean()\n"
    },
    "bug/context[0]/attempt[1]/revise": {"script": SCRIPT},
}

KINDS = dict(zip(ANSWERS, (BugReport, Symptom, Plan, Draft, Revision), strict=True))


@pytest.fixture
def place(toy: Any, tmp_path: Path) -> Path:
    """A folder with a report, a repository of two commits, and recorded answers."""
    repo = tmp_path / "repo"
    repo.mkdir()
    subprocess.run([*GIT, "init", "-q", "-b", "main"], cwd=repo, check=True)
    for name in ("buggy", "fixed"):
        for path in (toy.folder / name).rglob("*.py"):
            target = repo / path.relative_to(toy.folder / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(path.read_text())
        subprocess.run([*GIT, "add", "-A"], cwd=repo, check=True)
        subprocess.run([*GIT, "commit", "-q", "-m", name], cwd=repo, check=True)
        subprocess.run([*GIT, "tag", name], cwd=repo, check=True)
    (tmp_path / "report.md").write_text(REPORT)
    model = Recorder(
        Scripted({step: [answer] for step, answer in ANSWERS.items()}),
        tmp_path / "answers.jsonl",
    )
    for step, kind in KINDS.items():
        prompt = Prompt("recorded", 1, "Answer.", (Text("Which?"),))
        request: Request[Any] = Request(step=step, prompt=prompt, answer=kind)
        model.ask(request)
    return tmp_path


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """The command line in this process: exit code, standard output, standard error."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("REENACT_CACHE_DIR", str(place / "cache"))

    def command(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = guarded(reenact, list(words))
        answer = capsys.readouterr()
        return code, answer.out, answer.err

    return command


def killed(words: tuple[str, ...], point: str) -> int:
    """The signal that ended the command in a process of its own."""
    child = os.fork()
    if child == 0:
        os.environ["REENACT_CRASH_AT"] = point
        os._exit(guarded(reenact, list(words)))
    return os.WTERMSIG(os.waitpid(child, 0)[1])


BUG = (
    "bug",
    "report.md",
    "--repo",
    "repo",
    "--commit",
    "buggy",
    "--model",
    "replay:answers.jsonl",
    "--seeds",
    "1",
)


def test_reproduced_from_a_repository(place: Path, run: Command) -> None:
    code, out, err = run(*BUG, "--fixed", "fixed", "--output-format", "json")
    assert code == 0, err
    answer = json.loads(out)
    assert answer["exit_code"] == code
    assert "Reproduced" in answer["verdict"]
    assert answer["data"]["seeds_shown"] == answer["data"]["seeds_run"] == 1
    assert answer["data"]["script"] == "from acme import Meter\n\nmeter = Meter(3)\nmeter.mean()\n"
    newest = subprocess.run(
        [sys.executable, place / "reproduction" / "repro.py"],
        env={**os.environ, "PYTHONPATH": str(place / "repo")},
        check=False,
    )
    assert newest.returncode == 0, "the newest commit has the fix"
    repro = str(place / "reproduction" / "repro.py")
    for commit, judgement, word in (
        ("buggy", 1, "The bug shows: ZeroDivisionError"),
        ("fixed", 0, "The bug does not show"),
        ("gone", 125, "It cannot be judged: "),
    ):
        code, out, err = run("judge", repro, "--repo", "repo", "--commit", commit)
        assert code == judgement, err
        assert out.startswith(word), out
    for form, word in (
        ("full", "meter.mean()"),
        ("sarif", "BG001"),
        ("github", "::error"),
        ("html", "<html"),
    ):
        code, out, _ = run(*BUG, "--fixed", "fixed", "--output-format", form)
        assert code == 0
        assert word in out


def test_killed_it_continues_and_asks_nothing_twice(place: Path, run: Command) -> None:
    words = (*BUG, "--no-minimise", "--record", "asked.jsonl")
    points = ("C7:2", "C9:1", "C12")
    assert [killed(words, point) for point in points] == [signal.SIGKILL] * len(points)
    code, out, err = run(*words, "--output-format", "json")
    assert code == 0, err
    assert json.loads(out)["data"]["seeds_shown"] == 1
    records = [json.loads(line) for line in (place / "asked.jsonl").read_text().splitlines()[1:]]
    asked = Counter(record["step"] for record in records)
    assert set(asked) == set(ANSWERS)
    assert sum(asked.values()) <= len(ANSWERS) + 1, (
        "only the answer in flight at the first kill is asked again"
    )
    assert (place / "reproduction" / "repro.py").exists()


_SPEC = importlib.util.spec_from_file_location(
    "packages", Path(__file__).parents[1] / "sandbox" / "environments" / "packages.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
packages = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(packages)


def without_uv(place: Path) -> Command:
    """The command line of an interpreter beside which no uv is installed, so that pip does the
    work.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "own")], check=True)
    folders = [
        sysconfig.get_path("purelib"),
        str(Path(reenact_package.__file__).parents[1]),
    ]
    packages_of = next((place / "own" / "lib").glob("python*/site-packages"))
    (packages_of / "beside.pth").write_text("\n".join(folders) + "\n")

    def command(*words: str) -> tuple[int, str, str]:
        ended = subprocess.run(
            [str(place / "own" / "bin" / "python"), "-P", "-m", "reenact", *words],
            cwd=place,
            env={**os.environ, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        return ended.returncode, ended.stdout, ended.stderr

    return command


# What pip itself runs of hostile packages: tests/sandbox/environments/test_hostile_packages.py.
def test_what_cannot_be_judged_is_skipped_by_a_bisection(place: Path, run: Command) -> None:
    """Every other code up to 127 says to git that the revision has the bug."""
    (place / "repo" / "repro.py").write_text("import acme\n")
    for words in ((str(place / "gone.py"),), (str(place / "repo" / "repro.py"),)):
        code, out, _ = run("judge", *words, "--repo", "repo")
        assert code == 125
        assert "It cannot be judged" in out


def later_commits(repo: Path) -> None:
    """Three commits after the fix: one without effect, one that cannot be imported, and one that
    brings the bug back.
    """
    losses = repo / "acme" / "losses.py"
    good = losses.read_text()
    subprocess.run([*GIT, "checkout", "-q", "-b", "later", "fixed"], cwd=repo, check=True)
    texts = (f"{good}\n", "def\n", good.replace("if not self.values:", "if 0:"))
    for number, text in enumerate(texts):
        losses.write_text(text)
        subprocess.run([*GIT, "commit", "-q", "-a", "-m", f"later {number}"], cwd=repo, check=True)


def test_the_commit_that_brought_it_is_named(place: Path, run: Command) -> None:
    """The one that cannot be imported is left out, so two are left."""
    later_commits(place / "repo")
    code, out, err = run(
        *BUG, "--bisect", "fixed..later", "--fixed", "fixed", "--output-format", "json"
    )
    assert code == 0, err
    brought = json.loads(out)["data"]["brought_by"]
    assert "it came with one of" in brought, brought
    code, out, err = run(*BUG, "--bisect", "fixed..buggy")
    assert "there is no commit between them" in out, err
    code, out, err = run(*BUG, "--bisect", "fixed")
    assert code == 2
    assert "GOOD..BAD" in err


def test_the_fix_may_be_a_folder_or_an_sdist(place: Path, run: Command) -> None:
    """An outsider has two sdists and no history."""
    for name in ("buggy", "fixed"):
        shutil.copytree(place / name, place / "dist" / f"acme-{name}")
        shutil.make_archive(str(place / f"acme-{name}"), "gztar", place / "dist", f"acme-{name}")
    words = [one if one != "repo" else "acme-buggy.tar.gz" for one in BUG]
    words = [
        word for at, word in enumerate(words) if "--commit" not in words[max(0, at - 1) : at + 1]
    ]
    for fixed in ("acme-fixed.tar.gz", "dist/acme-fixed"):
        code, out, err = run(*words, "--fixed", fixed, "--output-format", "json")
        assert code == 0, err + out
        assert "Reproduced" in json.loads(out)["verdict"]


@pytest.mark.release
def test_git_bisect_finds_the_commit_that_brought_it(place: Path, run: Command) -> None:
    assert run(*BUG, "--fixed", "fixed")[0] == 0
    repo = place / "repo"
    later_commits(repo)
    judge = [sys.executable, "-m", "reenact", "judge", str(place / "reproduction" / "repro.py")]
    for words in (("bisect", "start", "later", "fixed"), ("bisect", "run", *judge)):
        done = subprocess.run([*GIT, *words], cwd=repo, check=False, capture_output=True, text=True)
    assert (
        "later 2"
        in subprocess.run(
            [*GIT, "log", "-1", "--format=%s", "refs/bisect/bad"],
            cwd=repo,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    ), done.stdout + done.stderr


@pytest.mark.release
@pytest.mark.parametrize("installer", ["uv", pytest.param("pip", marks=pytest.mark.slow)])
def test_packages_of_a_hostile_repository_run_nothing_on_the_host(
    toy: Any, place: Path, run: Command, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    command = without_uv(place) if installer == "pip" else run
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    links, mark = place / "links", place / "mark"
    links.mkdir()
    for name, value in {
        "PIP_FIND_LINKS": str(links),
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": "/dev/null",
        "UV_OFFLINE": "1",
        "UV_COMPILE_BYTECODE": "1",
        "UV_CACHE_DIR": str(place / "uv"),
    }.items():
        monkeypatch.setenv(name, value)
    packages.hostile_wheel(links, "tinyhostile", mark)
    packages.hostile_source(links, "tinysource", mark)
    shutil.copytree(toy.folder / "buggy", place / "hostile")
    (place / "hostile" / "requirements.txt").write_text("tinyhostile==1.0\ntinysource>=0.1\n")
    words = (
        "bug",
        "report.md",
        "--repo",
        "hostile",
        "--model",
        "replay:answers.jsonl",
        "--seeds",
        "1",
    )
    code, out, err = command(*words, "--no-minimise", "--output-format", "json")
    assert code == 0, err
    assert "Reproduced" in json.loads(out)["verdict"], (
        "its packages were there when the script ran in the box"
    )
    installed = {path.name for path in place.glob("cache/**/site-packages/*")}
    assert {"tinyhostile.py", "tinysource.py", "zz_hostile.pth"} <= installed
    assert not mark.exists(), mark.read_text()
    assert (place / "uv").exists() is (installer == "uv")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("bug", "report.md", "--repo", "repo"), "none is named"),
        (
            ("bug", "empty.md", "--repo", "repo", "--model", "replay:answers.jsonl"),
            "report is empty",
        ),
        (
            ("bug", "gone.md", "--repo", "repo", "--model", "replay:answers.jsonl"),
            "cannot be read",
        ),
        (
            ("bug", "report.md", "--repo", "data", "--model", "replay:answers.jsonl"),
            "no Python",
        ),
        (
            ("bug", "report.md", "--repo", "gone", "--model", "replay:answers.jsonl"),
            "there is nothing",
        ),
        ((*BUG[:4], "--commit", "nobody", "--model", "replay:answers.jsonl"), "nobody"),
        ((*BUG, "--requirement", "git+https://example.org/x"), "version control"),
        (("bug", "report.md"), "--repo"),
    ],
)
def test_wrong_usage_is_a_sentence(
    place: Path, run: Command, words: tuple[str, ...], sentence: str
) -> None:
    (place / "empty.md").write_text("\n \n")
    (place / "data").mkdir()
    (place / "data" / "x.bin").write_bytes(bytes(range(256)))
    code, _, err = run(*words)
    assert code == 2, err
    assert sentence in err
    assert "defect" not in err


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("reproduction/requirements.txt", "reproduction"),
        ("reproduction/REPORT.md", "reproduction"),
        ("reproduction/repro.py", "reproduction"),
        ("requirements.txt", "."),
    ],
)
def test_files_of_the_users_are_not_written_over(
    place: Path, run: Command, name: str, out: str
) -> None:
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text("torch==2.1\nnumpy\n")
    code, _, err = run(*BUG, "--out", out)
    assert code == 2
    assert "was not written by reenact" in err
    assert "--out OTHER" in err
    assert (place / name).read_text() == "torch==2.1\nnumpy\n"


def test_a_linked_output_folder_is_not_followed(place: Path, run: Command) -> None:
    (place / "elsewhere").mkdir()
    (place / "reproduction").symlink_to("elsewhere")
    code, _, err = run(*BUG)
    assert code == 2
    assert "is a link" in err
    assert list((place / "elsewhere").iterdir()) == []


@pytest.mark.release
def test_the_same_command_writes_over_its_own_files(place: Path, run: Command) -> None:
    first = run(*BUG, "--fixed", "fixed", "--output-format", "json")
    again = run(*BUG, "--fixed", "fixed", "--output-format", "json")
    assert (first[0], again[0]) == (0, 0), again[2]
    assert (place / "reproduction" / "repro.py").is_file()
