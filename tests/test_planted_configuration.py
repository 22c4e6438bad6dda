"""No program that reenact starts on the host reads configuration that somebody else planted.

A file for every configuration that each program documents lies in the temporary folder, above it,
in the current folder, above that, and in the folder that is worked on. Most of them name a command
that would leave a file, the others a setting whose effect would be seen. Each entry point of ours
is called for real.

pandoc runs in the sandbox, never on the host. Chromium is not started by the package at all, only
by the scripts that take pictures, and bubblewrap reads no configuration. Ray:
trials/test_ray_start.py, the action for GitHub: interfaces/test_hooks.py. That nothing else starts
a program is shown by test_process_fence.py.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reenact.codegen.project import Project
from reenact.codegen.static_checks import PLAIN_ERRORS, ruff
from reenact.errors import InputError, MissingPart, SandboxUnavailable
from reenact.journal import Journal
from reenact.paper.develop.development import MARK, History
from reenact.sandbox.commit import CommittedFile, commit_files, committed_file, uncommitted
from reenact.sandbox.environments.install import (
    Pip,
    Uv,
    Wish,
    compile_sources,
    find_installer,
)
from reenact.sandbox.environments.names import requirement
from reenact.sandbox.environments.source import find_source
from reenact.sandbox.environments.stored import ask_interpreter
from reenact.sandbox.git_folder import of_user
from reenact.sandbox.repository import Repository, clone

_SPEC = importlib.util.spec_from_file_location(
    "packages", Path(__file__).parent / "sandbox" / "environments" / "packages.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
packages = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(packages)

MODULES = (
    "sitecustomize",
    "usercustomize",
    "json",
    "pip",
    "venv",
    "compileall",
    "re",
    "os",
    "uv",
    "ruff",
)


@dataclass(frozen=True)
class Ground:
    """Folders full of planted configuration."""

    tripwire: Path
    """Written by every planted command."""
    current: Path
    temporary: Path
    evil: Path
    """Where planted settings would have packages come from."""
    taken: Path
    """Where planted settings would have packages go to."""
    links: Path
    """Where the user has packages come from."""


def plant(folder: Path, ground: Ground) -> None:
    """A file for every configuration that the programs document to look for in a folder."""
    trip = f"echo tripped >> {ground.tripwire}"
    uv = (
        f'index-url = "file://{ground.evil}"\nfind-links = ["{ground.evil}"]\nno-index = true\n'
        f'[pip]\ntarget = "{ground.taken}"\nno-index = true\n'
    )
    in_project = uv.replace("[pip]", "[tool.uv.pip]")
    for_ruff = '[tool.ruff]\nexclude = ["*"]\n[tool.ruff.lint]\nselect = []\n'
    texts = {
        # https://docs.astral.sh/uv/concepts/configuration-files
        "uv.toml": uv,
        # pyproject.toml is read by uv and by ruff.
        "pyproject.toml": f"[tool.uv]\n{in_project}{for_ruff}",
        ".python-version": "2.7\n",
        ".python-versions": "2.7\n",
        ".env": f"UV_INDEX_URL=file://{ground.evil}\nPIP_TARGET={ground.taken}\nRAY_ADDRESS=10.0.0.1:1\n",
        # https://pip.pypa.io/en/stable/topics/configuration
        "pip.conf": f"[global]\nfind-links = {ground.evil}\ntarget = {ground.taken}\n",
        "pip.ini": f"[global]\nfind-links = {ground.evil}\ntarget = {ground.taken}\n",
        "pip/pip.conf": f"[global]\nfind-links = {ground.evil}\ntarget = {ground.taken}\n",
        ".pip/pip.conf": f"[global]\nfind-links = {ground.evil}\ntarget = {ground.taken}\n",
        ".config/pip/pip.conf": f"[global]\nfind-links = {ground.evil}\ntarget = {ground.taken}\n",
        ".config/uv/uv.toml": uv,
        "setup.cfg": (
            f"[install]\nprefix = {ground.taken}\n[easy_install]\nfind_links = {ground.evil}\n"
        ),
        ".pydistutils.cfg": f"[install]\nprefix = {ground.taken}\n",
        "pydistutils.cfg": f"[install]\nprefix = {ground.taken}\n",
        "pyvenv.cfg": f"home = {ground.taken}\ninclude-system-site-packages = true\n",
        # https://docs.astral.sh/ruff/configuration
        "ruff.toml": 'exclude = ["*"]\n[lint]\nselect = []\n',
        ".ruff.toml": 'exclude = ["*"]\n[lint]\nselect = []\n',
        # https://git-scm.com/docs/git-config
        ".gitconfig": f"[core]\n\tfsmonitor = {trip}\n[alias]\n\tstatus = !{trip}\n",
        ".config/git/config": f"[core]\n\tfsmonitor = {trip}\n",
        ".gitattributes": "* filter=x diff=x merge=x\n",
        ".gitmodules": (
            f'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "{trip}"\n\tupdate = !{trip}\n'
        ),
        # https://pandoc.org/MANUAL.html, https://docs.ray.io/en/latest/ray-core/configure.html
        ".pandoc/defaults/default.yaml": f"filters: [{ground.evil}/filter]\n",
        "ray_bootstrap_config.yaml": f"setup_commands: ['{trip}']\n",
        ".docker/config.json": '{"credsStore": "planted"}',
        "containers.conf": f'[engine]\nhooks_dir = ["{ground.evil}"]\n',
        "trip.pth": f"import os; os.system({trip!r})\n",
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for module in MODULES:
        (folder / f"{module}.py").write_text(f"import os\nos.system({trip!r})\n")
    for program in (
        "git",
        "uv",
        "pip",
        "python",
        "ruff",
        "ssh",
        "keyring",
        "docker-credential-planted",
    ):
        path = folder / "bin-of-the-folder" / program
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{trip}\n")
        path.chmod(0o755)


def poison(git: Path, tripwire: Path) -> None:
    """Whatever a git folder can make git run: settings, attributes, hooks."""
    # A file of its own: `;` would begin a comment in git's settings.
    trip = tripwire.with_name("trip.sh")
    trip.write_text(f"#!/bin/sh\necho tripped >> {tripwire}\ncat\n")
    trip.chmod(0o755)
    included = git / "included"
    included.write_text(f"[core]\n\teditor = {trip}\n\taskPass = {trip}\n")
    config = f"""
[core]
\tfsmonitor = {trip}
\tpager = {trip}
\tsshCommand = {trip}
\tgitProxy = {trip}
\talternateRefsCommand = {trip}
\tattributesFile = {git / "info" / "attributes"}
\thooksPath = {git / "hooks"}
[filter "x"]
\tclean = {trip}
\tsmudge = {trip}
\tprocess = {trip}
\trequired = false
[diff]
\texternal = {trip}
[diff "x"]
\ttextconv = {trip}
\tcommand = {trip}
[merge "x"]
\tdriver = {trip}
[alias]
\tstatus = !{trip}
\tadd = !{trip}
[credential]
\thelper = !{trip}
[uploadpack]
\tpackObjectsHook = {trip}
[gpg]
\tprogram = {trip}
[commit]
\tgpgSign = true
[extensions]
\tworktreeConfig = true
[protocol "ext"]
\tallow = always
[include]
\tpath = {included}
"""
    with (git / "config").open("a") as file:
        file.write(config)
    (git / "config.worktree").write_text(config)
    (git / "info").mkdir(exist_ok=True)
    (git / "info" / "attributes").write_text("* filter=x diff=x merge=x\n")
    (git / "hooks").mkdir(exist_ok=True)
    hooks = (
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-auto-gc",
        "post-rewrite",
    )
    for name in hooks:
        (git / "hooks" / name).write_text(f"#!/bin/sh\necho tripped >> {tripwire}\n")
        (git / "hooks" / name).chmod(0o755)


def git(folder: Path, *words: str) -> str:
    identity = (
        "-c",
        "user.name=u",
        "-c",
        "user.email=u@example.org",
        "-c",
        "init.defaultBranch=main",
    )
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    done = subprocess.run(
        ["git", *identity, *words],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    above = tmp_path / "above"
    ground = Ground(
        tmp_path / "tripwire",
        above / "current",
        above / "temporary",
        tmp_path / "evil",
        tmp_path / "taken",
        tmp_path / "links",
    )
    for folder in (
        ground.current,
        ground.temporary,
        ground.evil,
        ground.links,
        tmp_path / "home",
    ):
        folder.mkdir(parents=True)
    for folder in (above, ground.current, ground.temporary):
        plant(folder, ground)
    packages.wheel(ground.evil, "tinyalpha", "9.9", **{"evil.pth": "import os\n"})
    packages.wheel(ground.links, "tinyalpha", "1.0")
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(ground.links))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("TMPDIR", str(ground.temporary))
    monkeypatch.setenv("PYTHONSTARTUP", str(ground.current / "sitecustomize.py"))
    # An entry of PATH that depends on the current folder finds what was planted there.
    monkeypatch.setenv("PATH", f"bin-of-the-folder{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(ground.current)
    yield ground
    assert not ground.tripwire.exists()
    assert not ground.taken.exists()


@pytest.fixture(params=["uv", "pip"])
def installer(request: pytest.FixtureRequest) -> Uv | Pip:
    try:
        return find_installer(prefer=request.param)
    except MissingPart:
        pytest.skip(f"{request.param} is not installed")


def installed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("lib/python*/site-packages/tinyalpha-*"))


def test_installers_read_no_planted_file(
    ground: Ground, installer: Uv | Pip, tmp_path: Path
) -> None:
    """N1: `uv.toml` in the temporary folder chose where packages come from and go to."""
    wish = Wish((requirement("tinyalpha"),), sys.executable)
    pins = installer.resolve(wish, None)
    assert pins == ("tinyalpha==1.0",)
    made = tmp_path / "environment"
    installer.install(pins, made, wish, None)
    assert installed(made) == ["tinyalpha-1.0.dist-info"]
    compile_sources(sys.executable, made, None)


def test_a_search_for_sources_reads_no_planted_file(ground: Ground) -> None:
    pytest.importorskip("pip")
    packages.source(ground.evil, "tinysource", "9.9")
    packages.source(ground.links, "tinysource", "0.3")
    assert str(find_source("tinysource", "tinysource", None, None).version) == "0.3"


def test_the_users_own_files_are_read(
    ground: Ground, installer: Uv | Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.delenv("PIP_NO_INDEX")
    own = tmp_path / "home" / ".config"
    (own / "uv").mkdir(parents=True)
    (own / "uv" / "uv.toml").write_text(f'no-index = true\nfind-links = ["{ground.links}"]\n')
    (own / "pip").mkdir()
    (own / "pip" / "pip.conf").write_text(
        f"[global]\nno-index = true\nfind-links =\n    {ground.links}\n"
    )
    wish = Wish((requirement("tinyalpha"),), sys.executable)
    assert installer.resolve(wish, None) == ("tinyalpha==1.0",)


def test_ruff_reads_no_planted_file(ground: Ground) -> None:
    assert ruff("print(undefined_name)\n", "--select", PLAIN_ERRORS) == [
        ("F821", "Undefined name `undefined_name`", 1)
    ]


def test_the_question_to_a_bare_interpreter_reads_no_planted_file(
    ground: Ground,
) -> None:
    assert ask_interpreter.__wrapped__(sys.executable).kind


def test_the_reader_of_a_paper_reads_no_planted_file(ground: Ground) -> None:
    from reenact.intake.papers.pandoc import parse
    from reenact.sandbox.choose import choose

    pytest.importorskip("pypandoc")
    try:
        box = choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    assert not parse("Some *words*.", "markdown", box=box).problem


@pytest.fixture
def tree(ground: Ground, tmp_path: Path) -> Path:
    """A repository from elsewhere: one commit, and poison in every place."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "train.py").write_text("lr = 0.1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    plant(folder, ground)
    poison(folder / ".git", ground.tripwire)
    return folder


def test_the_poison_works(tree: Path, ground: Ground) -> None:
    """The filter alone: hooks are taken away."""
    (tree / "train.py").write_text("lr = 0.2\n")
    for hook in (tree / ".git" / "hooks").iterdir():
        hook.unlink()
    subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "hash-object", "train.py"],
        cwd=tree,
        capture_output=True,
        check=False,
    )
    assert ground.tripwire.exists()
    ground.tripwire.unlink()


def test_git_reads_no_planted_file_of_a_foreign_tree(tree: Path, tmp_path: Path) -> None:
    (tree / "train.py").write_text("lr = 0.2\n")
    repository = Repository(tree)
    assert "train.py" in repository.changed()
    assert repository.day(repository.head()).year > 2000
    repository.export("main", tmp_path / "out")
    assert clone(str(tree), tmp_path / "into", local=True).head() == repository.head()


def test_the_question_for_changes_and_a_commit_run_nothing_of_the_repository(
    tree: Path,
) -> None:
    """N8: a filter of `.git/config` ran when a repair was applied."""
    theirs = of_user(tree)
    os.utime(tree / "train.py", (1, 1))
    assert uncommitted(tree, theirs, ["train.py", "pip.conf"]) == []
    (tree / "train.py").write_text("lr = 0.2\n")
    assert uncommitted(tree, theirs, ["train.py", "pip.conf"]) == ["train.py"]
    before = committed_file(theirs, "train.py")
    assert before == CommittedFile("100644", b"lr = 0.1\n")
    commit = commit_files(
        theirs, {"train.py": CommittedFile("100644", b"lr = 0.3\n")}, "repair", branch="fix/lr"
    )
    assert (tree / ".git" / "refs" / "heads" / "fix" / "lr").read_text().strip() == commit
    for taken in ("fix/lr", "fix", "main", "main/x"):
        with pytest.raises(InputError):
            commit_files(theirs, {}, "again", branch=taken)


def test_a_planted_history_is_neither_obeyed_nor_a_licence_to_overwrite(
    tree: Path,
) -> None:
    """N2: the mark that a folder's history is ours was the folder's own word."""
    (tree / ".git" / MARK).write_text(
        "Versions of a reproduction, one commit a round.\n" + "0" * 64 + "\n"
    )
    before = (tree / "train.py").read_bytes()
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="paper", request={}) as run,
    ):
        with pytest.raises(InputError, match="not reenact's own"):
            History(tree).keep(Project({"train.py": "other\n"}), "Round 0", run.under("first"))
        assert (tree / "train.py").read_bytes() == before
        history = History(tree)
        assert history.keep(Project({"new.py": "x\n"}), "Round 0", run.under("second")) == ""
    assert "not ours" in history.notes[0]
    assert git(tree.parent, "--git-dir", str(tree / ".git"), "rev-list", "--count", "--all") == "1"


def test_a_history_of_ours_that_was_poisoned_later_is_not_obeyed(
    ground: Ground, tmp_path: Path
) -> None:
    out = tmp_path / "reproduction"
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="paper", request={}) as run,
    ):
        history = History(out)
        first = history.keep(Project({"a.py": "x\n"}), "Round 0", run.under("first"))
        plant(out, ground)
        poison(out / ".git", ground.tripwire)
        second = history.keep(Project({"a.py": "y\n"}), "Round 1", run.under("second"))
    assert first
    assert second
    assert first != second
    assert (out / ".git" / "refs" / "heads" / "master").read_text().strip() == second


def test_a_signed_history_is_ours_at_its_own_place_alone(ground: Ground, tmp_path: Path) -> None:
    out = tmp_path / "reproduction"
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="paper", request={}) as run,
    ):
        History(out).keep(Project({"a.py": "x\n"}), "Round 0", run.under("first"))
        out.rename(tmp_path / "elsewhere")
        with pytest.raises(InputError, match="not reenact's own"):
            History(tmp_path / "elsewhere").keep(
                Project({"a.py": "y\n"}), "Round 0", run.under("second")
            )
