"""A formula against a function: the model names the function, code runs it on sample values in the
box.

Expected values are computed here, from the expression that was written down before any code was;
the box only gets inputs and gives back what the function returned. Agreement on all samples passes.
Disagreement is a hint for the judge, who may then answer fail or cannot judge, but not pass.
"""

import ast
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.project import Project
from reenact.codegen.runner import ProjectRunner
from reenact.codegen.syntax import parsed as parsed_python
from reenact.errors import AnswerUnusable, ResultRefused
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.criterion import CodeLine, Criterion, Value
from reenact.paper.fingerprint.expression import Misfit, parsed, value_of
from reenact.paper.fingerprint.vocabulary import squeezed
from reenact.paper.verify.mechanical import CodeFinding
from reenact.paper.verify.settings import line_at, read_names
from reenact.sandbox.files.results import read_json

SAMPLES = 4
LARGEST = 8
"""Sizes of a sample input. Which criteria a judge is asked about, and so every recording, rests
on it.
"""
LAID_OUT = 256
"""Numbers in a sample input that an argument reshapes: enough for a small tensor."""
TOLERANCE = 1e-4
"""Relative difference that is not one: the project may compute in single precision."""
INSIDE = ".reenact/driver.py"
RESULT = "result-WORD.json"


class Input(BaseModel):
    """A free name of the expression, or one that arguments need."""

    name: str = Field(pattern=r"^[A-Za-z_]\w{0,40}$")
    low: float
    high: float
    shape: list[int] = Field(default_factory=list, max_length=2)


class Argument(BaseModel):
    """One parameter of the function."""

    parameter: str = Field(pattern=r"^[A-Za-z_]\w{0,80}$")
    expression: str = Field(max_length=300, description="Over the inputs.")


class Setup(BaseModel):
    """How one formula is computed in the project."""

    id: str = Field(max_length=20)
    file: str = Field(max_length=300)
    function: str = Field(pattern=r"^[A-Za-z_]\w{0,80}$")
    arguments: list[Argument] = Field(min_length=1, max_length=20)
    inputs: list[Input] = Field(min_length=1, max_length=20)
    tensors: bool = False


class Setups(BaseModel):
    """The formulas that can be called."""

    formulas: list[Setup] = Field(max_length=40)


def samples(
    setup: Setup, criterion: Criterion
) -> tuple[tuple[dict[str, Any], ...], tuple[Any, ...]]:
    """Inputs of the function and what the formula gives. Raises Misfit when that proves nothing."""
    import numpy as np

    assert criterion.check is not None
    expression = criterion.check.expression
    _, names = parsed(expression)
    if set(names) - {one.name for one in setup.inputs}:
        raise Misfit("an input of the formula has no range")
    tensors = [one.expression for one in setup.arguments if "reshape" in one.expression]
    laid_out = {name for text in tensors for name in parsed(text)[1]}
    given = []
    expected = []
    for number in range(SAMPLES):
        chance = np.random.default_rng(number)
        inputs = {one.name: _drawn(one, chance, one.name in laid_out) for one in setup.inputs}
        expected.append(value_of(expression, inputs))
        arguments = {
            one.parameter: value_of(one.expression, inputs, free=False) for one in setup.arguments
        }
        plain = {name: value.tolist() for name, value in arguments.items()}
        # A whole number stays one, for it may count something.
        whole = {
            name: one for name, one in plain.items() if isinstance(one, float) and one.is_integer()
        }
        given.append(
            {
                **plain,
                **{name: int(one) for name, one in whole.items()},
            }
        )
    if not all(np.isfinite(one).all() for one in expected):
        raise Misfit("the formula is not finite in this range")
    if all(one.shape == expected[0].shape and np.allclose(one, expected[0]) for one in expected):
        raise Misfit("the formula gives the same for all samples")
    return tuple(given), tuple(expected)


def _drawn(one: Input, chance: Any, laid_out: bool) -> Any:
    fits = math.prod(one.shape) <= LAID_OUT if laid_out else max(one.shape, default=1) <= LARGEST
    if not one.low < one.high or min(one.shape, default=1) < 1 or not fits:
        raise Misfit(f"{one.name} has no usable range or shape")
    # A single precision number: what the project rounds, the formula must not see unrounded.
    return chance.uniform(one.low, one.high, one.shape).astype("float32").astype("float64")


@dataclass(frozen=True, slots=True)
class Call:
    """A function and what goes in and should come out."""

    criterion: Criterion
    setup: Setup
    line: CodeLine
    given: tuple[dict[str, Any], ...]
    expected: tuple[Any, ...]


def computed(
    criteria: Sequence[Criterion],
    project: Project,
    model: Model,
    runner: ProjectRunner,
    run: Scope,
) -> dict[str, CodeFinding]:
    """What running came to, for the criteria whose formula could be set up."""
    if not criteria:
        return {}
    listed = "\n".join(
        f"{one.id}: {one.fact} | {one.check.expression}" for one in criteria if one.check
    )
    template = load_prompt("reenact.paper.verify", "prompts/formula.md")
    prompt = template.fill(code=project.text(), criteria=listed)
    try:
        setups = ask(
            run,
            model=model,
            name="formulas",
            prompt=prompt,
            answer=Setups,
        ).formulas
    except AnswerUnusable:
        return {}
    by_id = {one.id: one for one in criteria}
    calls: dict[str, Call] = {}
    for setup in setups:
        criterion = by_id.get(setup.id.strip())
        line = _defined(setup, project)
        if criterion is not None and criterion.id not in calls and line is not None:
            with suppress(Misfit):
                calls[criterion.id] = Call(
                    criterion,
                    setup,
                    line,
                    *samples(setup, criterion),
                )
    if calls:
        return _run([*calls.values()], project, runner, run)
    return {}


def _defined(setup: Setup, project: Project) -> CodeLine | None:
    """The line of the function, when it is there and takes these parameters."""
    text = project.files.get(setup.file, "")
    tree = None
    if setup.file.endswith(".py"):
        tree = parsed_python(text)
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == setup.function:
            takes = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
            fits = (
                node.args.kwarg is not None or {one.parameter for one in setup.arguments} <= takes
            )
            if fits:
                return line_at(setup.file, text, node.lineno)
            return None
    return None


def _run(
    calls: list[Call],
    project: Project,
    runner: ProjectRunner,
    run: Scope,
) -> dict[str, CodeFinding]:
    own = files("reenact.paper.develop").joinpath("driver.py").read_bytes()
    tasks: list[dict[str, Any]] = []
    for call in calls:
        module = call.setup.file.removesuffix(".py").replace(
            "/",
            ".",
        )
        taken = {
            "module": module,
            "function": call.setup.function,
            "tensors": call.setup.tensors,
        }
        tasks.append(
            {
                "name": call.criterion.id,
                **taken,
                "samples": list(call.given),
            }
        )
    ran = runner.run(
        "run-formulas",
        run,
        project,
        (INSIDE,),
        limits=runner.limits(),
        collect=(RESULT,),
        extra={INSIDE: own},
        task={
            "mode": "call",
            "calls": tasks,
        },
    )
    try:
        results = read_json(ran.results.get(RESULT, "").encode()) if ran.ok else {}
    except ResultRefused:
        results = {}
    read = list(map(read_names, project.trees().values()))
    found: dict[str, CodeFinding] = {}
    for call in calls:
        result = results.get(call.criterion.id) if isinstance(results, dict) else None
        if not isinstance(result, dict):
            continue
        function = call.setup.function
        other, refutes = _difference(call, result)
        seen = f"{function}() {other or f'gives what the formula gives, on {SAMPLES} samples.'}"
        called = any(names is None or squeezed(function) in names for names in read)
        if not other and not called:
            # A formula that nothing computes is not followed.
            seen += " But nothing in the project calls it."
        value = Value.PASS if called and not other else None
        found[call.criterion.id] = CodeFinding(value, seen, (call.line,), refutes)
    return found


def _difference(
    call: Call,
    result: Mapping[str, Any],
) -> tuple[str, bool]:
    """What is not as the formula has it, empty when all is; and whether that refutes the code."""
    import numpy as np

    if "problem" in result:
        return f"could not be called: {result['problem']}", False
    values = result.get("values")
    if not isinstance(values, list) or len(values) != len(call.expected):
        return "left no values.", False
    for number, (got, wanted) in enumerate(zip(values, call.expected, strict=True)):
        try:
            there = np.asarray(got, dtype=float).squeeze()
            expected = wanted.squeeze()
        except (TypeError, ValueError):
            return "returns no numbers.", False
        if there.shape != expected.shape:
            return (
                f"returns numbers of shape {there.shape}, not {expected.shape}.",
                False,
            )
        if not np.allclose(there, expected, rtol=TOLERANCE, atol=1e-6):
            mine, other = (
                ", ".join(f"{one:.5g}" for one in each.ravel()[:4]) for each in (there, expected)
            )
            return f"gives {mine} on sample {number + 1}, the formula {other}.", True
    return "", False
