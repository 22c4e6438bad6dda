"""repro.py: the script with a judge around it that needs nothing but Python.

Exit code 1: the bug shows; 0: it does not; 125: it could not be run. `git bisect run` reads them
so.
"""

import ast
from collections.abc import Sequence
from importlib.resources import files
from pathlib import PurePosixPath

from reenact.bug.classify import SeedRun
from reenact.bug.minimise import spans, without
from reenact.bug.symptom import Relation, Symptom

PREFIX = "_judge_"
"""Before each name of the judge: no script uses them."""
SEEDERS = {
    "numpy": "random.seed",
    "torch": "manual_seed",
    "tensorflow": "random.set_seed",
}
HEAD = '''"""{title}

{words}

Run it in the project's folder, or name that in REENACT_PROJECT:
    python repro.py; git bisect run python /path/to/repro.py
Exit code 1: the bug shows. 0: it does not. 125: it could not be run. REENACT_SEED chooses the seed.
The script was written by a model and has run in a sandbox only: read it before you run it.
"""
{future}
import os as _os
import random as _random
import sys as _sys

_SEED = int(_os.environ.get("REENACT_SEED", "{seed}"))
_PROJECT = _os.path.abspath(_os.environ.get("REENACT_PROJECT", _os.getcwd()))
_FIXED = _os.environ.get("REENACT_FORM") == "fixed"
_ROOTS = [_os.path.join(_PROJECT, _root) for _root in {roots}]
_sys.path[:0] = _ROOTS
'''
EXPLICIT = """
def _judge_ended(kind, error, trace):
    frames = _judge_frames_of(trace, _PROJECT, __file__)
    own = [frame[3] for frame in frames if frame[0] == "project"]
    shown = (
        _judge_blamed(frames) == {whose!r} and frames[-1][0] != "script"
        and not _judge_is_environment(error, _ROOTS, {absent!r})
        and {name!r} in [one.__name__ for one in kind.__mro__]
        and _judge_in_order({fragments!r}, str(error))
{seen}    )
    _sys.__excepthook__(kind, error, trace)
    _sys.stderr.write("The bug shows.\\n" if shown else "It could not be run: another failure.\\n")
    _sys.stderr.flush()
    _os._exit(1 if shown else 125)


_sys.excepthook = _judge_ended
"""
SEEN = """        and own[-1:] == {function!r}
        and ("<module>" in own) == {importing!r}
"""
SILENT = """
def _judge_ended(kind, error, trace):
    _sys.__excepthook__(kind, error, trace)
    _sys.stderr.write("It could not be run.\\n")
    _sys.stderr.flush()
    _os._exit(125)


def _judge_says(shown, saw):
    _sys.stderr.write(("The bug shows: " if shown else "The bug does not show: ") + saw + "\\n")
    _sys.exit(1 if shown else 0)


_sys.excepthook = _judge_ended
"""
CLOSING = {
    Relation.WARNS: (
        "_judge_says(bool(_WARNED), (_WARNED or ['no such warning from project code'])[0])"
    ),
    Relation.SLOWER: "_judge_says(_time.process_time() - _BEGAN > {number}, 'CPU seconds')",
    Relation.MEMORY: (
        "_judge_used = _resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "_judge_says(_judge_used > {number}, f'{{_judge_used:.0f}} MiB')"
    ),
}
VALUE = """_CHECK = {check!r}
_judge_values = [_judge_held(observed), _judge_held({reference})]
_judge_shown = _judge_{holds}(_CHECK, *_judge_values)
_judge_says(_judge_shown, _judge_saw(_CHECK, *_judge_values, _judge_shown))"""
BEFORE = {
    Relation.WARNS: """import warnings as _warnings

_WARNED = []


def _judge_warned(message, category, *_, **__):
    inside = _judge_nearest_owner(_sys._getframe(1), _PROJECT, __file__) == "project"
    if inside and _judge_in_order({fragments!r}, f"{{category.__name__}}: {{message}}"):
        _WARNED.append(str(message))


_warnings.simplefilter("always")
_warnings.showwarning = _judge_warned
""",
    Relation.SLOWER: """import signal as _signal
import time as _time

_BEGAN = _time.process_time()
_signal.signal(_signal.SIGPROF, lambda *_: _os._exit(1))
_signal.setitimer(_signal.ITIMER_PROF, {number} + 1)
""",
    Relation.MEMORY: "import resource as _resource\n",
}
TEST = '''"""Passes when the bug does not show any more; skipped where the script cannot be run."""

import subprocess
import sys
from pathlib import Path

import pytest


def test_bug_does_not_show():
    script = Path(__file__).with_name("repro.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout={wall_s:.0f})
    if done.returncode == 125:
        pytest.skip(f"repro.py could not be run: {{done.stderr[-500:]}}")
    assert done.returncode == 0, done.stderr[-2000:]
'''


def repro_text(
    script: str,
    symptom: Symptom,
    title: str,
    shown: SeedRun | None = None,
    roots: Sequence[PurePosixPath] = (),
    seeded: Sequence[str] = (),
) -> str:
    """The whole file. `shown` is a run with the bug: the judge asks for what it raised; without it
    for the reported exception.
    """
    future, body = _split_future(script)
    about = {
        "title": _docstring(title),
        "words": _docstring(symptom.words),
    }
    places = [str(root) for root in roots] or ["."]
    seed = shown.seed if shown is not None else 0
    head = HEAD.format(
        **about,
        future=f"\n{future}" if future else "",
        seed=seed,
        roots=places,
    )
    known = [
        f"import {one} as _{one}\n_{one}.{SEEDERS[one]}(_SEED)" for one in seeded if one in SEEDERS
    ]
    seeding = "\n".join(["_random.seed(_SEED)", *known])
    around, closing = _silent(symptom) if symptom.is_silent else _explicit(symptom, shown)
    return (
        f"{head}\n\n# ---- the judge: whose frames, which value ----\n{around}\n{seeding}\n\n"
        f"# ---- the script ----\n{body.strip()}\n\n# ---- what was seen ----\n{closing}\n"
    )


def _explicit(
    symptom: Symptom,
    shown: SeedRun | None,
) -> tuple[str, str]:
    reported = symptom.explicit
    seen = shown.failure if shown is not None else None
    assert reported is not None
    function = []
    if seen is not None and seen.function:
        function = [seen.function]
    name = reported.name
    fragments = reported.fragments
    like = ""
    if seen is not None:
        name = seen.exception
        fragments = seen.fragments
        like = SEEN.format(
            function=function,
            importing=seen.phase == "import",
        )
    wanted = {
        "name": name,
        "fragments": list(fragments),
        "absent": symptom.absent_module,
        "seen": like,
    }
    whose = "script" if shown is not None and shown.outside else "project"
    around = EXPLICIT.format(whose=whose, **wanted)
    judge = judge_text("frames_of", "blamed", "is_environment", "in_order")
    return f"{judge}\n{around}", '_sys.stderr.write("The bug does not show.\\n")'


def _silent(symptom: Symptom) -> tuple[str, str]:
    check = symptom.closing
    assert check is not None
    if check.relation.of_a_value:
        holds = f"holds_{check.relation.value.replace('-', '_')}"
        reference = "reference" if check.needs_reference else "None"
        closing = VALUE.format(
            check=check.model_dump(mode="json"), holds=holds, reference=reference
        )
        return f"{judge_text(holds, 'held', 'saw')}\n{SILENT}", closing
    judge = ""
    if check.relation is Relation.WARNS:
        judge = judge_text("nearest_owner", "in_order")
    fragments = [" ".join(part.split()).lower() for part in check.text.split("*")]
    before = BEFORE[check.relation].format(
        fragments=fragments,
        number=check.number,
    )
    return f"{judge}\n{SILENT}\n{before}", CLOSING[check.relation].format(number=check.number)


def _split_future(script: str) -> tuple[str, str]:
    """`from __future__` lines, which must stand first, and the rest."""
    body = ast.parse(script).body
    lines = script.splitlines()
    future = spans(
        [one for one in body if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
    )
    return "\n".join(lines[number - 1] for one in future for number in one), without(script, future)


def _docstring(text: str) -> str:
    """Words of a stranger as part of a docstring: they cannot end it."""
    return (
        " ".join(text.split())
        .replace("\\", "/")
        .replace(
            '"',
            "'",
        )[:300]
    )


def judge_text(*wanted: str) -> str:
    """Source code of these functions of inside/judge.py and of all that they call, with the
    prefix.
    """
    tree = ast.parse(files("reenact.bug.inside").joinpath("judge.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    modules = [one.name for node in tree.body if isinstance(node, ast.Import) for one in node.names]
    needed: list[str] = list(wanted)
    used: set[str] = set()
    for name in needed:
        names = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
        needed += [one for one in functions if one in names and one not in needed]
        used |= names
    imports = [f"import {name} as {PREFIX}{name}" for name in modules if name in used]
    defined = [
        _renamed(node, {*functions, *modules}) for name, node in functions.items() if name in needed
    ]
    return "\n\n\n".join(["\n".join(imports), *defined]).strip() + "\n"


def _renamed(function: ast.FunctionDef, names: set[str]) -> str:
    """Its source with the prefix before these names, without docstring and annotations."""
    function.name = f"{PREFIX}{function.name}"
    function.returns = None
    if ast.get_docstring(function) is not None:
        function.body = function.body[1:]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = f"{PREFIX}{node.id}"
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(function)
