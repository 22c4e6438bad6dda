"""What a project is run with: read from its metadata, its imports and the report, never guessed."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from reenact.bug.declared import declared, named_extras
from reenact.bug.environment import pinned, prepare, pth_folders
from reenact.bug.options import BugOptions
from reenact.bug.project_files import ProjectFiles, project_files
from reenact.bug.report import Installed
from reenact.errors import InputError
from reenact.sandbox.environments.names import Allowed
from reenact.sandbox.environments.stored import Environment


def files_of(folder: Path, **texts: str) -> ProjectFiles:
    for name, text in {
        "tool_py": "import numpy\nimport yaml\nimport strange\nimport os\n",
        **texts,
    }.items():
        stem, _, ending = name.rpartition("_")
        (folder / f"{stem}.{ending}").write_text(text)
    return project_files(folder)


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (
            {"pyproject_toml": '[project]\ndependencies = ["torch>=2", "numpy"]\n'},
            ["torch", "numpy"],
        ),
        (
            {"setup_cfg": "[options]\ninstall_requires =\n  torch\n  # why\n  rich>=1\n"},
            ["torch", "rich"],
        ),
        (
            {"setup_py": "from setuptools import setup\nsetup(install_requires=['torch', NAME])\n"},
            ["torch"],
        ),
        (
            {"requirements_txt": "torch==2.1 # old\n-r more.txt\n\nnumpy\n"},
            ["torch", "numpy"],
        ),
        (
            {"pyproject_toml": '[tool.poetry.dependencies]\npython = "^3.9"\nrich = "^13"\n'},
            ["rich"],
        ),
        ({"pyproject_toml": "not toml ["}, ["numpy", "pyyaml"]),
        (
            {
                "setup_py": "setup(install_requires=[])\n",
                "requirements_txt": "tensorflow\njax\n",
            },
            [],
        ),
        (
            {
                "setup_py": "setup(install_requires=read())\n",
                "requirements_txt": "rich\n",
            },
            ["rich"],
        ),
    ],
)
def test_declared(tmp_path: Path, texts: dict[str, str], names: list[str]) -> None:
    assert [one.name for one in declared(files_of(tmp_path, **texts), [])] == names


def test_files_of_requirements_include_others(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "base.txt").write_text("rich\n-r ../requirements.txt\n-r deep.txt\n")
    (tmp_path / "more" / "deep.txt").write_text("attrs>=20\n")
    files = files_of(tmp_path, requirements_txt="torch\n-r more/base.txt\n")
    assert [one.name for one in declared(files, [])] == ["torch", "rich", "attrs"]


@pytest.mark.parametrize(
    "texts",
    [
        {
            "pyproject_toml": '[project]\nname = "acme"\ndependencies = ["numpy"]\n'
            '[project.optional-dependencies]\nviz = ["rich>=1"]\ndev = ["click"]\n'
        },
        {
            "setup_cfg": "[metadata]\nname = acme\n[options]\ninstall_requires = numpy\n"
            "[options.extras_require]\nviz =\n  rich>=1\ndev = click\n"
        },
        {
            "setup_py": "setup(name='acme', install_requires=['numpy'], "
            "extras_require={'viz': ['rich>=1'], 'dev': ['click']})\n"
        },
    ],
)
def test_extras_that_the_report_installs_are_needed(tmp_path: Path, texts: dict[str, str]) -> None:
    files = files_of(tmp_path, **texts)
    extras = named_extras(files, "pip install 'acme[viz]' torch[cuda]\nx[0] and acme_x[dev]\n")
    assert extras == ("viz",)
    assert [one.text for one in declared(files, [], extras)] == ["numpy", "rich>=1"]


def test_what_cannot_be_taken_over_is_noted(tmp_path: Path) -> None:
    notes: list[str] = []
    found = declared(
        files_of(tmp_path, requirements_txt="rich\ngit+https://example.org/x.git\n"),
        notes,
    )
    assert [one.name for one in found] == ["rich"]
    assert "version control" in notes[0]
    declared(files_of(tmp_path, requirements_txt=""), notes)
    assert "strange" in notes[1]


def test_versions_of_the_report() -> None:
    reported = [
        Installed(package="PyTorch", version="v2.1.0"),
        Installed(package="python", version="3.9"),
        Installed(package="evil-package", version="1"),
        Installed(package="numpy", version="one; import os"),
        Installed(package="rich"),
    ]
    notes: list[str] = []
    pins = pinned(reported, {"numpy", *Allowed.usual().names}, notes)
    assert [one.text for one in pins] == ["torch==2.1.0"]
    assert "--allow-packages evil-package" in notes[0]
    assert "numpy" in notes[1]


@pytest.mark.parametrize(
    ("reported", "meant"),
    [
        ("3", "keras==3.*"),
        ("3.4", "keras==3.4.*"),
        ("3.4.1", "keras==3.4.1"),
        ("3.0rc1", "keras==3.0rc1"),
    ],
)
def test_a_series_is_any_release_of_it(reported: str, meant: str) -> None:
    pins = pinned([Installed(package="keras", version=reported)], {"keras"}, [])
    assert [one.text for one in pins] == [meant]


def test_keras_gets_an_engine_when_the_project_names_none(tmp_path: Path) -> None:
    shop: Any = Shop()
    made = prepare(
        files_of(tmp_path, requirements_txt="keras>=3.3\n"),
        (),
        None,
        BugOptions(environment="build"),
        shop,
    )
    assert shop.asked == [(["keras>=3.3", "numpy", "pyyaml", "torch"], None)]
    assert any("needs an engine" in note for note in made.notes)
    named = files_of(tmp_path, requirements_txt="keras>=3.3\ntensorflow\n")
    prepare(named, (), None, BugOptions(environment="build"), shop)
    assert shop.asked[1] == (["keras>=3.3", "tensorflow", "numpy", "pyyaml"], None)


def test_this_interpreter_where_it_has_what_is_needed(tmp_path: Path) -> None:
    files = files_of(tmp_path, requirements_txt="numpy\npyyaml\n")
    made = prepare(files, (), None, BugOptions(), None)
    assert made.python == sys.executable
    assert made.mounts == ()
    assert made.frameworks == ("numpy",)
    assert [one.partition("==")[0] for one in made.packages] == ["numpy", "pyyaml"]
    assert made.seeded("import torch\n") == ["numpy", "torch"]


def test_missing_package_is_named(tmp_path: Path) -> None:
    files = files_of(tmp_path, requirements_txt="numpy\nno-such-package-anywhere>=3\n")
    with pytest.raises(InputError, match="no-such-package-anywhere>=3"):
        prepare(files, (), None, BugOptions(), None)
    stubbed = prepare(files, (), None, BugOptions(stubs=("no_such_package_anywhere",)), None)
    assert stubbed.python == sys.executable


class Shop:
    """An environment builder that has no old versions."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], date | None]] = []

    def prepare(
        self, wanted: Any, allowed: Allowed, *, exclude_newer: date | None = None
    ) -> Environment:
        self.asked.append(([one.text for one in wanted], exclude_newer))
        if exclude_newer is not None:
            raise InputError("There is no such version.")
        return Environment("key", Path("/env"), ("numpy==2.0", "torch==2.9"), 1, "/usr")


def test_versions_then_date_are_given_up_and_noted(tmp_path: Path) -> None:
    files = files_of(tmp_path, requirements_txt="numpy\n")
    shop: Any = Shop()
    reported = [Installed(package="numpy", version="1.1")]
    made = prepare(files, reported, date(2020, 1, 1), BugOptions(environment="build"), shop)
    assert [before for _, before in shop.asked] == [
        date(2020, 1, 1),
        date(2020, 1, 1),
        None,
    ]
    assert shop.asked[0][0] == ["numpy", "pyyaml", "numpy==1.1.*"]
    assert made.available == ("numpy", "torch")
    assert [note.partition(":")[0] for note in made.notes[1:]] == [
        "Without the versions of the report",
        "Without the packages of 2020-01-01",
    ]


def test_unknown_kind_of_environment(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="auto, here or build"):
        prepare(files_of(tmp_path), (), None, BugOptions(environment="moon"), None)


def package_of(folder: Path, **texts: str) -> ProjectFiles:
    for name, text in texts.items():
        file = folder / "acme" / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (folder / "requirements.txt").write_text("numpy\n")
    return project_files(folder)


def test_undeclared_packages_that_importing_the_project_needs_are_installed(
    tmp_path: Path,
) -> None:
    shop: Any = Shop()
    files = package_of(
        tmp_path,
        __init__="from .core import run\n",
        core="import yaml\nimport strange\nfrom acme.deep import x\nif x:\n    import wandb\n",
        deep="import einops\nx = 1\n",
        convert="import tensorflow\nimport torch\n",
    )
    made = prepare(files, (), None, BugOptions(environment="build"), shop)
    assert shop.asked == [(["numpy", "einops", "pyyaml"], None)]
    assert made.notes[0] == "einops is imported and not declared; it is installed too."
    assert made.direct == ("numpy==2.0",), "torch came with something else"
    assert made.frameworks == (), (
        "a framework of a file that nothing loads is not imported to be seeded"
    )


def test_a_module_whose_absence_is_the_bug_is_not_installed(tmp_path: Path) -> None:
    shop: Any = Shop()
    files = package_of(tmp_path, __init__="import yaml\nimport einops\n")
    made = prepare(files, (), None, BugOptions(environment="build"), shop, absent="yaml")
    assert shop.asked == [(["numpy", "einops"], None)]
    assert made.notes[0] == "yaml is not installed: the report is about its absence."
    shop = Shop()
    prepare(files, (), None, BugOptions(environment="build"), shop, absent="numpy")
    assert shop.asked == [(["numpy", "einops", "pyyaml"], None)], "what is declared is installed"


def test_a_module_that_the_first_run_missed_is_installed_by_its_package(
    tmp_path: Path,
) -> None:
    shop: Any = Shop()
    files = package_of(tmp_path, __init__="")
    prepare(files, (), None, BugOptions(), shop, missing=("cv2.dnn", "yaml"))
    assert shop.asked == [(["numpy", "opencv-python-headless", "pyyaml"], None)]


def test_a_release_of_the_project_is_never_installed_beside_its_checkout(tmp_path: Path) -> None:
    """It would be imported in its place; a note would ask to allow just that."""
    shop: Any = Shop()
    files = package_of(tmp_path, __init__="")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "Acme-Tools"\n')
    (tmp_path / "requirements.txt").write_text("numpy\nacme\nacme_tools>=1\n")
    reported = [
        Installed(package="acme-tools", version="1.2.0"),
        Installed(package="acme", version="1.2.0"),
        Installed(package="strange", version="3.1.0"),
    ]
    made = prepare(files, reported, None, BugOptions(environment="build"), shop)
    assert shop.asked == [(["numpy"], None)]
    assert [note for note in made.notes if "acme" in note] == []
    assert "The report names strange 3.1.0" in made.notes[0]


@pytest.mark.parametrize(
    ("setup", "names"),
    [
        ("setup(install_requires=read('requirements/base.txt'))", ["lightning-utilities", "numpy"]),
        (
            "files = ['base.txt']\nsetup(install_requires=read(files))",
            ["lightning-utilities", "numpy"],
        ),
        (
            "read('requirements/test.txt')\nsetup(install_requires=read('base.txt'))",
            ["lightning-utilities", "numpy"],
        ),
        ("setup(install_requires=['torch'], x='base.txt')", ["torch"]),
        ("setup(x='base.txt')", ["pyyaml"]),
        ("setup(install_requires=read('gone.txt'))", ["pyyaml"]),
    ],
)
def test_requirements_that_setup_py_reads_are_read(
    tmp_path: Path, setup: str, names: list[str]
) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "base.txt").write_text(
        "# needed\nlightning-utilities>=0.8\nnumpy<2.0  # strict\n-r more.txt\n"
    )
    (tmp_path / "requirements" / "test.txt").write_text("pytest\n")
    files = files_of(tmp_path, setup_py=setup, requirements_txt="pyyaml\n")
    assert [one.name for one in declared(files, [])] == names


def test_folders_that_a_pth_file_names_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    for name in ("site", "far", "home", "home/inside"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (site / "a.pth").write_text(
        f"# {tmp_path}\n{tmp_path / 'far'}\nimport os; os.abort()\n../gone\n"
    )
    (site / "b.pth").write_text(
        f"{tmp_path / 'home'}\n{tmp_path}\n{tmp_path / 'home' / 'inside'}\n"
    )
    found = pth_folders([str(site)])
    assert found == (tmp_path / "far", tmp_path / "home" / "inside"), "not the user's home"
    assert pth_folders([str(tmp_path)]) == ()
