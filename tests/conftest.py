"""What every test shares: no network model, no user's settings, a canary that may never leak."""

from __future__ import annotations

import atexit
import gc
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from process_owners import watch_starts
from warm import make_environment

pytest.register_assert_rewrite("contracts")
watch_starts()
CANARY = "sk-canary-5f1d0c2b9e8a47d6b3"

# Also where PYTHONDONTWRITEBYTECODE is set: a third of the time until the first test would go into
# compiling all tests again.
sys.dont_write_bytecode = False

# Set before anything is imported: children inherit them too.
os.environ["REENACT_NO_NETWORK_MODELS"] = "1"
os.environ["KERAS_BACKEND"] = "torch"
os.environ["COLUMNS"] = "120"
os.environ["OPENAI_API_KEY"] = CANARY
os.environ["ANTHROPIC_API_KEY"] = CANARY
# The user's settings and the key of the user's journals are not those of the tests.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="reenact-config-")
atexit.register(shutil.rmtree, os.environ["XDG_CONFIG_HOME"], ignore_errors=True)
# All workers share the warm interpreter of the process that started them.
if "WARM_FOLDER" not in os.environ:
    os.environ["WARM_FOLDER"] = str(make_environment())
for name in [
    name
    for name in os.environ
    if name.startswith("REENACT_") and name != "REENACT_NO_NETWORK_MODELS"
]:
    del os.environ[name]

# Started by nohup or in the background, we ignore these signals, and so would every program that we
# start; with a handler we still survive them, and the programs do not.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda number, frame: None)

# The same examples on every machine; HYPOTHESIS_PROFILE=search draws new ones.
# No deadline: how long an example takes is a matter of the machine.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("search", print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


PLANTED = (
    "json",
    "torch",
    "numpy",
    "sitecustomize",
    "usercustomize",
    "click",
    "pydantic",
    "tomllib",
    "yaml",
)
TRAINING = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=10.0)
for epoch in range(12):
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
"""


class Planted:
    """A folder with a training, a paper, and modules named like libraries that leave a mark
    when imported.
    """

    def __init__(self, root: Path) -> None:
        self.folder, self.marks = root / "repository", root / "marks"
        self.folder.mkdir()
        self.marks.mkdir()
        (self.folder / "train.py").write_text(TRAINING)
        (self.folder / "paper.md").write_text("# On lines\n\nA line has one dimension.\n")
        for name in PLANTED:
            text = f"import os\nopen(os.path.join({str(self.marks)!r}, {name!r}), 'w').close()\n"
            (self.folder / f"{name}.py").write_text(text)

    @property
    def imported(self) -> list[str]:
        return sorted(mark.name for mark in self.marks.iterdir())


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    return Planted(tmp_path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """What a file makes once for its tests is made once: one worker does all tests of such a
    file.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByWhatIsShared(LoadScopeScheduling):
        """Groups that files name, files with something of their own to share, and single tests."""

        def _split_scope(self, nodeid: str) -> str:
            return _group(config.rootpath / nodeid.partition("::")[0]) or nodeid

    return ByWhatIsShared(config, log) if config.getvalue("dist") == "loadgroup" else None


@cache
def _group(file: Path) -> str:
    """Read from the text: the process that hands out the tests imports none of them."""
    text = file.read_text(encoding="utf-8")
    named = re.search(r'xdist_group\("(\w+)"\)', text)
    return named[1] if named else str(file) if '@pytest.fixture(scope="module"' in text else ""


OF_BENCHMARKS = Path(__file__).parent / "benchmarks"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests of the benchmarks run when they are named (`make test-benchmarks`) and before a release:
    they belong to the benchmarks, and run when these change.
    """
    is_daily = "not release" in config.option.markexpr
    is_named = any("benchmarks" in Path(argument).parts for argument in config.args)
    return True if collection_path == OF_BENCHMARKS and is_daily and not is_named else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test marked `sample(n)` each n-th case runs in `make test`, the others before a release."""
    cases = Counter[str]()
    for item in items:
        sample = item.get_closest_marker("sample")
        if sample is None:
            continue
        test = item.nodeid.partition("[")[0]
        if cases[test] % sample.args[0]:
            item.add_marker(pytest.mark.release)
        cases[test] += 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """While thousands of tests are made, nothing becomes garbage that is worth a search."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """What is here now stays; later searches leave it out."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def warm_folder() -> Path:
    """An environment whose `python` has imported torch and Keras already."""
    return Path(os.environ["WARM_FOLDER"])


@pytest.fixture(scope="session")
def warm_interpreter(warm_folder: Path) -> str:
    """The `python` of that environment."""
    return str(warm_folder / "bin" / "python")


@pytest.fixture(scope="module")
def warm_python(warm_folder: Path) -> Iterator[None]:
    """Programs are trained by a warm interpreter: for tests of what follows a training, not of
    its start.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRTUAL_ENV", str(warm_folder))
        yield


@pytest.fixture
def cold_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of these tests again, where the others of a file use the warm one."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
