"""Looks at a generated project from inside the box: one mini-batch, then the model and its loss on it; or
functions of the project, called on given values.

    python .reenact/driver.py  <  {"mode": "batch" | "method", "word": ..., "steps": 40, "seconds": 9}
    python .reenact/driver.py  <  {"mode": "call", "word": ..., "calls": [...]}

Leaves `result-WORD.json`: problems with file and line, and facts; or what each call returned. What the
project prints counts for nothing. It imports nothing of reenact and nothing but Python
itself, and torch or numpy where the project has it.
"""

from __future__ import annotations

import importlib
import json
import math
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

MOST_LEAVES = 40
MOST_VALUES = 20_000
"""Of a large array every so-manieth value is looked at."""
RATES = (1e-3, 1e-2, 1e-4)
"""Learning rates of our own training on one batch: a sound loss falls with one of them."""
FALL = 0.01
"""Share of the loss by which it must fall."""
DATA = "data.py"
MODEL = "model.py"
NO_CONTRACT = (
    "model.py has no build_model and loss_on: one batch was not trained on; the dry run judges."
)


class Report:
    """Problems and facts, in the order in which they were seen."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str, int]] = []
        """What is wrong, in which file and line."""
        self.facts: list[str] = []
        self.stand_in = ""
        self.doing = ""
        """What is being asked of the project."""

    def problem(self, sentence: str, file: str, line: int = 0) -> None:
        self.problems.append((sentence[:2000], file, line))

    def crash(self, error: BaseException) -> None:
        """What the project raised, an exit too, is a problem at its innermost line."""
        traceback.print_exception(type(error), error, error.__traceback__)
        root = Path.cwd()
        file = ""
        line = 0
        for frame in traceback.extract_tb(error.__traceback__):
            place = Path(frame.filename).absolute()
            if place.is_relative_to(root) and place != Path(__file__).absolute():
                file = str(place.relative_to(root))
                line = frame.lineno or 0
        self.problem(
            f"{type(error).__name__}: {error} (while {self.doing})",
            file,
            line,
        )


def seed_all(seed: int) -> None:
    """One seed for every source of chance that is loaded."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def sample(report: Report) -> Any:
    """A mini-batch of the project, described."""
    report.doing = "calling data.sample_batch(0)"
    data = importlib.import_module("data")
    report.stand_in = str(getattr(data, "STAND_IN", "") or "")[:500]
    seed_all(0)
    batch = data.sample_batch(0)
    seed_all(1)
    leaves = _described(batch)
    again = _described(data.sample_batch(0))
    if report.stand_in:
        report.facts.append(f"The data are a synthetic stand-in: {report.stand_in}")
    if not leaves:
        report.problem("sample_batch(0) gives nothing: no array, tensor or number is in it.", DATA)
    for words, sound in leaves:
        report.facts.append(words)
        if not sound:
            report.problem(f"The mini-batch is not usable: {words}.", DATA)
    if leaves != again:
        other = "sample_batch(0) gives another batch when called again; only its seed may decide."
        report.problem(other, DATA)
    return batch


def _described(batch: Any) -> list[tuple[str, bool]]:
    return [_describe(name, leaf) for name, leaf in islice(_walk(batch, "batch"), MOST_LEAVES)]


def _walk(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Arrays, tensors, numbers and texts of a nest, each with its path."""
    names = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", None)
    parts: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        parts = [
            (
                f"{name}[{key!r}]",
                part,
            )
            for key, part in value.items()
        ]
    elif names is not None:
        parts = [
            (
                f"{name}.{key}",
                getattr(value, key),
            )
            for key in names
        ]
    elif isinstance(value, list | tuple) and not (
        value and isinstance(value[0], int | float | str)
    ):
        parts = [
            (
                f"{name}[{number}]",
                part,
            )
            for number, part in enumerate(value)
        ]
    elif value is not None:
        yield name, value
    for inner, part in parts:
        yield from _walk(part, inner)


def _describe(name: str, leaf: Any) -> tuple[str, bool]:
    """Shape, type and range of one leaf, and whether all of it is finite."""
    if hasattr(leaf, "detach"):
        leaf = leaf.detach().cpu()
    if hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
        kind = str(leaf.dtype)
        shape = tuple(leaf.shape)
        flat = leaf.flatten()
        values = flat[:: max(1, len(flat) // MOST_VALUES)].tolist()
    elif isinstance(leaf, list | tuple):
        kind = type(leaf[0]).__name__
        shape = (len(leaf),)
        values = list(leaf)
    else:
        kind = type(leaf).__name__
        shape = ()
        values = [leaf]
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    words = f"{name}: {kind} of shape {shape}"
    if not numbers:
        return words, bool(values)
    finite = [value for value in numbers if math.isfinite(value)]
    if len(finite) < len(numbers):
        return (
            f"{words}, {len(numbers) - len(finite)} of {len(numbers)} values are not finite",
            False,
        )
    words += f", from {min(finite):.3g} to {max(finite):.3g}"
    if "float" not in kind and all(value == int(value) for value in finite):
        words += f", {len(set(finite))} different values"
    return words, True


class Method:
    """model.py on one batch: its loss is finite, has gradients and declared shapes, falls when
    repeated.
    """

    def __init__(
        self,
        report: Report,
        batch: Any,
        steps: int,
        seconds: float,
    ) -> None:
        self.report = report
        self.batch = batch
        self.steps = steps
        self.until = time.process_time() + seconds
        self.tried: list[str] = []
        """How the loss went where it did not fall."""
        report.doing = "importing model.py"
        self.module: Any = importlib.import_module("model")

    def check(self) -> None:
        """Everything, up to the first problem."""
        if not (hasattr(self.module, "build_model") and hasattr(self.module, "loss_on")):
            self.report.facts.append(NO_CONTRACT)
            return
        self.report.doing = "computing the loss of one mini-batch"
        model = self._called("build_model", 0)
        loss = self._loss(model)
        fell = True
        if not math.isfinite(float(loss)):
            self.report.problem(
                f"The loss of one mini-batch is {float(loss)}, not finite.",
                MODEL,
            )
        elif hasattr(model, "parameters") and hasattr(loss, "backward"):
            self.report.doing = "training on one mini-batch"
            fell = not self._has_gradients(model) or self._falls_by_gradient()
        elif hasattr(self.module, "update"):
            self.report.doing = "calling model.update on one mini-batch"
            fell = self._falls(
                model,
                lambda model: self._called("update", model, self.batch),
            )
        else:
            self.report.facts.append("No gradients and no `update`: one batch was not trained on.")
        if not fell:
            words = f"The loss does not fall when one mini-batch is repeated {self.steps} times"
            self.report.problem(
                f"{words}: {'; '.join(self.tried)}.",
                MODEL,
            )

    def _called(self, name: str, *given: Any) -> Any:
        """The same chance every time, so that a falling loss is not luck."""
        seed_all(0)
        return getattr(self.module, name)(*given)

    def _loss(self, model: Any) -> Any:
        return self._called("loss_on", model, self.batch)

    def _has_gradients(self, model: Any) -> bool:
        """Forward with declared shapes compared, backward, gradients finite and somewhere not
        zero.
        """
        shapes: dict[str, tuple[int, ...]] = {}

        def note(name: str, _part: Any, _inputs: Any, output: Any) -> None:
            first = output[0] if isinstance(output, list | tuple) and output else output
            if hasattr(first, "shape"):
                shapes[name] = tuple(int(size) for size in first.shape)

        for name, part in model.named_modules():
            part.register_forward_hook(partial(note, name))
        loss = self._loss(model)
        self._compare_shapes(shapes)
        if loss.numel() != 1:
            self.report.problem(
                f"loss_on gives shape {tuple(loss.shape)}, not one number.",
                MODEL,
            )
            return False
        loss.backward()
        trained = [(name, part) for name, part in model.named_parameters() if part.requires_grad]
        reached = {name: part.grad for name, part in trained if part.grad is not None}
        count = sum(part.numel() for _, part in trained)
        self.report.facts.append(
            f"The model has {count} trainable parameters in {len(trained)} tensors."
        )
        if not any(bool((grad != 0).any()) for grad in reached.values()):
            self.report.problem(
                "No gradient reaches a parameter: the loss does not depend on them.",
                MODEL,
            )
        if broken := [name for name, grad in reached.items() if not bool(grad.isfinite().all())]:
            self.report.problem(
                f"Gradients are not finite: {', '.join(broken[:5])}.",
                MODEL,
            )
        if lost := [name for name, _ in trained if name not in reached]:
            self.report.facts.append(
                f"The loss does not reach these parameters: {', '.join(lost[:8])}."
            )
        return not self.report.problems

    def _falls_by_gradient(self) -> bool:
        """By our own training, with one learning rate after another."""
        import torch

        for rate in RATES:
            model = self._called("build_model", 0)
            optimizer = torch.optim.Adam(
                [one for one in model.parameters() if one.requires_grad], lr=rate
            )

            def step(model: Any, optimizer: Any = optimizer) -> None:
                optimizer.zero_grad()
                self._loss(model).backward()
                optimizer.step()

            if self._falls(
                model,
                step,
                f" at rate {rate:g}",
            ):
                return True
        return False

    def _falls(
        self,
        model: Any,
        step: Callable[[Any], Any],
        how: str = "",
    ) -> bool:
        """Whether the loss falls in so many steps, which change the model or give another one; it
        is given up when it breaks or takes too long.
        """
        first = last = float(self._loss(model))
        for _ in range(self.steps):
            changed = step(model)
            if changed is not None:
                model = changed
            last = float(self._loss(model))
            if math.isfinite(last) and last < first - max(FALL * abs(first), 1e-7):
                self.report.facts.append("The loss falls when one mini-batch is repeated.")
                return True
            if not math.isfinite(last) or time.process_time() > self.until:
                break
        self.tried.append(f"{first:.3g} -> {last:.3g}{how}")
        return False

    def _compare_shapes(
        self,
        shapes: dict[str, tuple[int, ...]],
    ) -> None:
        """Declared shapes against those that came out; none stands for any size."""
        for name, wanted in dict(getattr(self.module, "SHAPES", {})).items():
            got = shapes.get(name)
            label = name or "the model"
            if got is None:
                self.report.problem(
                    f"SHAPES names {label!r}, which gives no tensor in loss_on.", MODEL
                )
            elif len(got) != len(wanted) or any(
                want not in (None, size) for want, size in zip(wanted, got, strict=True)
            ):
                self.report.problem(
                    f"{label} gives shape {got}; declared is {tuple(wanted)}.", MODEL
                )
            else:
                self.report.facts.append(f"{label} gives shape {got}, as declared.")


def _called(
    call: dict[str, Any],
    given: dict[str, Any],
) -> object:
    function = getattr(importlib.import_module(call["module"]), call["function"])
    value = function(**{name: _ready(value, call["tensors"]) for name, value in given.items()})
    for name in ("detach", "cpu", "tolist"):
        if hasattr(value, name):
            value = getattr(value, name)()
    if isinstance(value, list):
        return value
    return float(value)


def _ready(value: object, tensors: bool) -> object:
    if not isinstance(value, list):
        return value
    if tensors:
        import torch

        return torch.tensor(value, dtype=torch.float64)
    import numpy

    return numpy.asarray(value, dtype=float)


def called(calls: list[dict[str, Any]]) -> dict[str, object]:
    """One entry a call: the numbers it returned, or what went wrong."""
    found: dict[str, object] = {}
    for call in calls:
        try:
            values = [_called(call, given) for given in call["samples"]]
            json.dumps(values, allow_nan=False)
            found[call["name"]] = {"values": values}
        except BaseException as error:  # noqa: BLE001 - whatever the project raises is a result
            found[call["name"]] = {
                "problem": f"{type(error).__name__}: {error}"[:300],
            }
    return found


def looked_at(task: dict[str, Any]) -> dict[str, object]:
    """Problems and facts of the data, and of the method where that is asked for."""
    report = Report()
    try:
        batch = sample(report)
        if not report.problems and task["mode"] == "method":
            Method(report, batch, int(task["steps"]), float(task["seconds"])).check()
    except BaseException as error:  # noqa: BLE001 - it is reported, with its place
        report.crash(error)
    return {
        "problems": report.problems,
        "facts": report.facts,
        "stand_in": report.stand_in,
    }


def main() -> None:
    task = json.load(sys.stdin)
    sys.path.insert(0, ".")
    result = called(task["calls"]) if task["mode"] == "call" else looked_at(task)
    Path(f"result-{task['word']}.json").write_text(
        json.dumps(result),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
