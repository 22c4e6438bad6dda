"""A command line that starts a training: script, `-m package`, notebook, or a launcher in front of either."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from reenact.errors import UnreadableProgram
from reenact.program.words import words

INTERPRETERS = ("python", "python3", "pypy3", "ipython")
TORCH_MODULES = ("torch.distributed.run", "torch.distributed.launch")
RUNNERS = ("torchrun", "accelerate", "deepspeed", "uv", "poetry", "pipenv", "time", "nohup", "env")

TORCHRUN_FLAGS = frozenset(
    words(
        "--standalone --no-python --no_python --run-path --run_path --use-env --use_env "
        "--virtual-local-rank -h --help"
    )
)
ACCELERATE_FLAGS = frozenset(
    words(
        "--cpu --multi_gpu --multi-gpu --tpu --ipex --use_deepspeed --use-deepspeed --use_fsdp --use-fsdp "
        "--use_megatron_lm --use_xpu --debug --quiet -q --no_python --dynamo_use_dynamic "
        "--tpu_use_cluster --downcast_bf16 -h --help"
    )
)
DEEPSPEED_FLAGS = frozenset(
    ["--no_python", "--no_local_rank", "--force_multi", "--no_ssh", "--elastic_training"]
)
PYTHON_FLAGS_WITH_VALUE = frozenset(("-W", "-X", "-c", "--check-hash-based-pycs"))


@dataclass(frozen=True, slots=True)
class Launch:
    """How a program is started."""

    target: str
    """Path of the script or notebook, or the dotted name after `-m`."""
    module: bool = False
    """True when `target` is a module name."""
    arguments: tuple[str, ...] = ()
    """What the program itself is given."""
    launcher: tuple[str, ...] = ()
    """Words in front: `torchrun --nproc-per-node=2`; empty for a plain start."""

    @property
    def words(self) -> tuple[str, ...]:
        """The whole line, as a user would type it after the interpreter or the launcher."""
        flag = ("-m",) if self.module else ()
        return (*self.launcher, *flag, self.target, *self.arguments)

    def command(self, python: str, target: str | None = None) -> tuple[str, ...]:
        """The argument vector that starts it with this interpreter, perhaps another copy of the script."""
        flag = ("-m",) if self.module else ()
        end = (*flag, target or self.target, *self.arguments)
        if not self.launcher:
            return (python, *end)
        return (*_launcher_by(self.launcher, python), *end)


def read_line(words: Sequence[str]) -> Launch:
    """Understand a command line; the first word that is a script, a notebook or `-m name` is the program."""
    rest = list(words)
    if rest and rest[0] == "--":
        rest = rest[1:]
    while rest and _is_assignment(rest[0]):
        rest = rest[1:]
    if not rest:
        raise UnreadableProgram(
            "No program was given.", next_step="Name a script, a notebook, or `-m package` and its arguments."
        )
    front, rest = _split_launcher(rest)
    return _launch(tuple(front), rest)


def _split_launcher(rest: list[str]) -> tuple[list[str], list[str]]:
    front: list[str] = []
    while rest:
        name = PurePath(rest[0]).name
        if _is_python(name):
            taken = _python_words(rest)
        elif name in RUNNERS:
            taken = _runner_words(name, rest)
        else:
            return front, rest
        front, rest = front + rest[:taken], rest[taken:]
    return front, rest


def _launch(front: tuple[str, ...], rest: list[str]) -> Launch:
    if len(front) == 1 and _is_python(PurePath(front[0]).name):
        front = ()
    module = bool(rest) and rest[0] in ("-m", "--module")
    if module:
        rest = rest[1:]
    if not rest or rest[0].startswith("-"):
        raise UnreadableProgram(
            f"There is no script in this line. Received: {' '.join((*front, *rest))!r}.",
            next_step="Name a .py file, a .ipynb file, or `-m package`.",
        )
    return Launch(rest[0], module, tuple(rest[1:]), front)


def _python_words(rest: list[str]) -> int:
    """The interpreter and its own options, and `-m torch.distributed.run` with its options."""
    index = 1
    while index < len(rest) and rest[index].startswith("-") and rest[index] != "-m":
        index += 2 if rest[index] in PYTHON_FLAGS_WITH_VALUE else 1
    if rest[index : index + 1] == ["-m"] and len(rest) > index + 1:
        if rest[index + 1] in TORCH_MODULES:
            return _skip_options(rest, index + 2, TORCHRUN_FLAGS)
        if rest[index + 1].startswith("accelerate.commands.launch"):
            return _skip_options(rest, index + 2, ACCELERATE_FLAGS)
    return index


def _runner_words(name: str, rest: list[str]) -> int:
    if name == "torchrun":
        return _skip_options(rest, 1, TORCHRUN_FLAGS)
    if name == "accelerate":
        return _skip_options(rest, 2, ACCELERATE_FLAGS) if rest[1:2] == ["launch"] else 1
    if name == "deepspeed":
        return _skip_options(rest, 1, DEEPSPEED_FLAGS)
    if name in ("uv", "poetry", "pipenv") and rest[1:2] == ["run"]:
        return 2
    index = 1
    while name == "env" and index < len(rest) and _is_assignment(rest[index]):
        index += 1
    return index


def _skip_options(rest: list[str], index: int, flags: frozenset[str]) -> int:
    """Past options that take a value, those that take none (`flags`) and `--name=value`, up to the script."""
    while index < len(rest) and rest[index].startswith("-") and rest[index] not in ("-m", "--module"):
        word = rest[index]
        index += 1 if "=" in word or word in flags else 2
    return min(index, len(rest))


def _launcher_by(launcher: Sequence[str], python: str) -> tuple[str, ...]:
    """Launchers are started through the interpreter, so that they come from its environment."""
    first = PurePath(launcher[0]).name
    if _is_python(first):
        return (python, *launcher[1:])
    if first == "torchrun":
        return (python, "-m", "torch.distributed.run", *launcher[1:])
    if first == "accelerate" and launcher[1:2] == ("launch",):
        return (python, "-m", "accelerate.commands.launch", *launcher[2:])
    return tuple(launcher)


def _is_python(name: str) -> bool:
    return name in INTERPRETERS or (name.startswith("python3.") and name[8:].isdigit())


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def environment_of(words: Sequence[str]) -> Mapping[str, str]:
    """`NAME=value` words that stand in front of a command line."""
    found: dict[str, str] = {}
    for word in words[1:] if words[:1] == ["--"] else words:
        if not _is_assignment(word):
            break
        name, _, value = word.partition("=")
        found[name] = value
    return found


def is_notebook(target: str) -> bool:
    return os.path.splitext(target)[1].lower() == ".ipynb"  # noqa: PTH122
