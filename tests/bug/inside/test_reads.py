"""Files of the repository are the project's: a script that opens one is noticed, the project is
not.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.bug.test_script_runner import seen

PIECES = 'name = "/".join(["." + ".", "repo" + "sitory", "READ" + "ME.md"])\n'
OPENS = {
    "open": "open(name).read()",
    "os.open": "import os\nos.open(name, os.O_RDONLY)",
    "pathlib": "from pathlib import Path\nPath(name).read_text()",
    "linecache": "import linecache\nlinecache.getlines(name)",
    "numpy": "import numpy\nnumpy.fromfile(name)",
    "sqlite": "import sqlite3\nsqlite3.connect(name)",
    "a folder": "import os\nos.listdir(os.path.split(name)[0])",
    "scandir": "import os\nos.scandir(os.path.split(name)[0])",
    "a link": "import os\nos.symlink(os.path.abspath(name), 'here')",
    "from inside": "import os\nos.chdir(os.path.split(name)[0])\nopen('README.md')",
    "a function that the project calls for it": "import shutil\nshutil.copyfile(name, 'here')",
    "loader": "import acme\nacme.__loader__.get_data(acme.__file__)",
}


@pytest.fixture
def readme(toy: Any) -> Any:
    (toy.folder / "buggy" / "README.md").write_text("Version 1.0\n")
    return toy


@pytest.mark.sample(4)
@pytest.mark.parametrize("what", OPENS)
def test_the_script_opens_a_file_of_the_repository(readme: Any, what: str) -> None:
    found = seen(readme, f"{PIECES}{OPENS[what]}\n")
    assert found.noticed.startswith("it opens a file of the repository"), found


@pytest.mark.parametrize(
    "script",
    [
        "import acme.losses\nfrom acme import Meter\n",
        "import importlib\nimportlib.import_module('acme.losses')\n",
        "open('own.txt', 'w').write('a')\nopen('own.txt').read()\n",
        "import tempfile\ntempfile.TemporaryFile()\n",
        "import warnings\nfrom acme import Meter\nwarnings.warn('a')\n",
        "import acme.reads\nprint(acme.reads.words())\n",
    ],
)
def test_imports_own_files_and_the_project_itself_are_not_noticed(readme: Any, script: str) -> None:
    text = (
        "from pathlib import Path\n"
        "def words():\n    return Path(__file__).parents[1].joinpath('README.md').read_text()\n"
    )
    (readme.folder / "buggy" / "acme" / "reads.py").write_text(text)
    found = seen(readme, script)
    assert (found.ended, found.noticed) == ("returned", "")


@pytest.mark.parametrize("call", ["sys.settrace(print)", "sys.setprofile(print)"])
def test_a_script_that_traces_is_noticed(toy: Any, call: str) -> None:
    found = seen(
        toy,
        f"import sys\nfrom acme import Meter\n{call}\nsys.settrace(None)\nsys.setprofile(None)\n",
    )
    assert found.noticed.startswith("it traces the interpreter")


def test_a_library_that_compiles_the_project_may_read_its_source(toy: Any) -> None:
    text = (
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x * "
        "2\n"
    )
    (toy.folder / "buggy" / "acme" / "net.py").write_text(text)
    found = seen(
        toy,
        "import torch\nfrom acme.net import Net\nprint(torch.jit.script(Net())(torch.ones(1)))\n",
    )
    assert (found.ended, found.noticed) == ("returned", ""), found
