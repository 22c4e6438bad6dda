"""Whether a program will run here, before it is run: its text and its interpreter are asked.

Looked at: syntax, the interpreter, the packages that are imported, data files that are named, a graphics
card that is asked for, a launcher, arguments that argparse requires, and the keyboard.
"""

import ast
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reenact.host_program import ask_users_interpreter
from reenact.probe.injected import default_python
from reenact.program.flow.sources import Sources
from reenact.program.program import Program
from reenact.program.syntax.calls import keyword

ASKING_S = 120.0
READERS = frozenset(
    {
        "numpy.load",
        "numpy.loadtxt",
        "numpy.genfromtxt",
        "numpy.fromfile",
        "pandas.read_csv",
        "pandas.read_json",
        "pandas.read_parquet",
        "pandas.read_pickle",
        "pandas.read_excel",
        "torch.load",
    }
)
"""Library functions whose first argument is a file that must be there."""
JOINS = "torch.distributed.init_process_group"
_FOUND = """
import importlib.util, json, sys
def missing(name):
    try:
        return importlib.util.find_spec(name) is None
    except (ImportError, ValueError):
        return True
print(json.dumps([name for name in sys.argv[1:] if missing(name)]))
"""
_CUDA = "import torch; print(int(torch.cuda.is_available()))"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One reason why a program will not run here, or may wait."""

    name: str
    """A word for it: syntax, interpreter, packages, gpu, data, launcher, arguments, keyboard."""
    sentence: str
    next_step: str
    line: int | None = None
    certain: bool = True
    """Whether the program cannot run; else it may wait or take another way."""


def obstacles(program: Program, python: str = "") -> Iterator[Obstacle]:
    """Everything that stands in the way, worst first."""
    for file in program.unparsed:
        yield Obstacle(
            "syntax",
            f"{file.path} cannot be parsed: {file.unparsed}.",
            "Correct the line.",
        )
    sources = Sources(program)
    path = default_python(python)
    missing = _ask(path, _FOUND, _imported(program, sources))
    if missing is None:
        yield Obstacle(
            "interpreter",
            f"The interpreter {path} cannot be started.",
            "Activate the environment of your training, or pass --python PATH.",
        )
    elif names := json.loads(missing):
        yield Obstacle(
            "packages",
            f"{path} has no module {', '.join(names)}.",
            f"{path} -m pip install {' '.join(names)}, or pass --python PATH of an interpreter that "
            "has it.",
        )
    yield from _launcher(program, sources)
    yield from _arguments(program, sources)
    yield from _gpu(sources, path)
    yield from _data(program, sources)
    yield from _keyboard(sources)


def _imported(program: Program, sources: Sources) -> list[str]:
    """Top-level modules that must be installed: not local ones, not those that may be missing."""
    names: dict[str, None] = {}
    for index in sources.indexes.values():
        for binding in index.imports:
            top = binding.dotted.partition(".")[0]
            optional = any(isinstance(one, ast.Try) for one in index.ancestors(binding.node))
            if not binding.level and top and not optional and top not in sys.stdlib_module_names:
                names[top] = None
    folders = (program.working, *(program.folder / base for base in program.bases))
    return [
        name
        for name in names
        if not any((at / f"{name}.py").exists() or (at / name).is_dir() for at in folders)
    ]


def _ask(python: str, code: str, words: Sequence[str] = ()) -> str | None:
    """What this code prints in the interpreter; none where it cannot be started or fails."""
    try:
        # Isolated: a module of the current folder is not what was installed.
        done = ask_users_interpreter((python, "-I", "-c", code, *words), ASKING_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.decode(errors="replace").splitlines()
    return lines[-1] if done.returncode == 0 and lines else None


def _launcher(program: Program, sources: Sources) -> Iterator[Obstacle]:
    if program.launch.launcher or "RANK" in os.environ:
        return
    for call in sources.calls():
        if sources.dotted(call.func) == JOINS and not call.args and not keyword(call, "rank"):
            words = shlex.join(program.launch.words)
            yield Obstacle(
                "launcher",
                "The program joins a group of processes, and nothing starts that group.",
                f"reenact diagnose -- torchrun --nproc-per-node=2 {words}",
                call.lineno,
            )
            return


def _arguments(program: Program, sources: Sources) -> Iterator[Obstacle]:
    """Arguments that argparse requires and that are not given."""
    given = {word.partition("=")[0] for word in program.arguments}
    missing: list[str] = []
    line = None
    positional = 0
    for call in sources.calls():
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"):
            continue
        names = [one.value for one in call.args if isinstance(one, ast.Constant)]
        flags = [str(name) for name in names if str(name).startswith("-")]
        if flags:
            required = keyword(call, "required")
            is_required = isinstance(required, ast.Constant) and required.value is True
            lacks = is_required and not given.intersection(flags)
        else:
            positional += 1
            lacks = not keyword(call, "nargs", "default") and len(program.arguments) < positional
        if lacks and names:
            missing.append(flags[-1] if flags else str(names[0]))
            line = line or call.lineno
    if missing:
        example = " ".join(f"{name} ..." if name.startswith("-") else "..." for name in missing)
        yield Obstacle(
            "arguments",
            f"The program requires {', '.join(missing)}.",
            f"reenact diagnose {shlex.join(program.launch.words)} {example}",
            line,
        )


def _gpu(sources: Sources, python: str) -> Iterator[Obstacle]:
    """A card that is asked for in any case, and that torch does not have."""
    asking = [call for call in sources.calls() if _asks_for_card(call, sources)]
    if asking and _ask(python, _CUDA) == "0":
        yield Obstacle(
            "gpu",
            "The program asks for a graphics card, and the torch of this interpreter has none.",
            "Use: device = 'cuda' if torch.cuda.is_available() else 'cpu'",
            asking[0].lineno,
        )


def _asks_for_card(call: ast.Call, sources: Sources) -> bool:
    """`.cuda()`, `.to("cuda")` or `torch.device("cuda")` that nothing chooses."""
    index = next(one for one in sources.indexes.values() if call in one.parents)
    if any(isinstance(one, ast.If | ast.IfExp | ast.Try) for one in index.ancestors(call)):
        return False
    literal = call.args[0] if call.args else keyword(call, "device")
    names_card = isinstance(literal, ast.Constant) and str(literal.value).startswith("cuda")
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
        return not call.args and not sources.dotted(call.func)
    is_move = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    return names_card and (is_move or sources.dotted(call.func) == "torch.device")


def _data(program: Program, sources: Sources) -> Iterator[Obstacle]:
    for call in sources.calls():
        first = call.args[0] if call.args else None
        if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
            continue
        if not (sources.dotted(call.func) in READERS or _opens_to_read(call, sources)):
            continue
        name = first.value
        if "://" in name or (program.working / name).exists() or _is_written(name, call, sources):
            continue
        yield Obstacle(
            "data",
            f"The file {name} is not there. Looked in: {program.working}.",
            "Start it in the folder of its data, or correct the path.",
            call.lineno,
        )


def _opens_to_read(call: ast.Call, sources: Sources) -> bool:
    if sources.dotted(call.func) != "builtins.open":
        return False
    mode = call.args[1] if len(call.args) > 1 else keyword(call, "mode")
    return mode is None or (isinstance(mode, ast.Constant) and str(mode.value).startswith("r"))


def _is_written(name: str, reader: ast.Call, sources: Sources) -> bool:
    """Whether another call gets the same name: the program may make the file itself."""
    return any(
        isinstance(one, ast.Constant) and one.value == name
        for call in sources.calls()
        if call is not reader and not _opens_to_read(call, sources)
        for one in (*call.args, *(word.value for word in call.keywords))
        if sources.dotted(call.func) not in READERS
    )


def _keyboard(sources: Sources) -> Iterator[Obstacle]:
    for call in sources.calls():
        if sources.dotted(call.func) == "builtins.input":
            yield Obstacle(
                "keyboard",
                "The program reads from the keyboard.",
                "Answer at the terminal, pipe the answers, or take arguments instead.",
                call.lineno,
                certain=False,
            )
            return
