"""What no one wrote: a keyword for the call that takes it, an initialiser, a callback, a line that
scales, statements of a training loop: gradients set to zero, clipping, a schedule, train and
evaluation mode.
"""

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.clearing import clear
from reenact.program.edit.source_editor import SourceEditor, assigned, known
from reenact.program.edit.values import python_text
from reenact.program.flow.ends import is_number
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.syntax.calls import argument, keyword, method_name, receiver
from reenact.program.syntax.index import dotted_text, statement_of
from reenact.program.syntax.scope import Scope, bindings_of, scope_of
from reenact.program.training import lexicon
from reenact.program.training.analysis import EditSite
from reenact.program.training.habits import optimizer_steps, stepped
from reenact.program.training.layers import LayerSite, activation_word
from reenact.program.training.loops import count_of, iterated, range_arguments
from reenact.program.training.positions import ContainerKind
from reenact.program.training.purpose import Purposes
from reenact.types import JsonValue


def add_argument(
    editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue
) -> None:
    """Give a call the keyword that it lacks."""
    if param.kind is Kind.PREPROCESSING:
        _scale(editor, site, value)
    elif param.kind is Kind.SCHEDULER and site.argument == "callbacks":
        _callback(editor, site, value)
    elif value is None and param.kind not in (
        Kind.GRADIENT_CLIP,
        Kind.WEIGHT_REGULARIZER,
    ):
        raise NotChangeable(f"It is absent already. Received: {value!r} for {param.id}.")
    elif value is not None:
        if param.kind is Kind.ACTIVATION and isinstance(value, str):
            value = activation_word(value)
            if value not in lexicon.KERAS_ACTIVATIONS:
                raise NotChangeable(f"Keras has no activation of that name. Received: {value!r}.")
        editor.set_argument(
            known(site.call), site.argument, setting_text(editor, param, site, value)
        )


def setting_text(
    editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue
) -> str:
    """A value as Python; a regulariser is `"l2"`, or `{"l2": 0.001}` with a strength: the mixed one
    has no short name that every Keras knows.
    """
    mixed = isinstance(value, str) and value.lower().replace("_", "") == "l1l2"
    if param.kind is Kind.WEIGHT_REGULARIZER and mixed:
        value = {"l1": 0.01, "l2": 0.01}
    if param.kind is not Kind.WEIGHT_REGULARIZER or not isinstance(value, dict):
        return python_text(value)
    if not value or not set(value) <= {"l1", "l2"}:
        raise NotChangeable(f"A regulariser has the strengths l1 and l2. Received: {value!r}.")
    kind = "L1L2" if len(value) == 2 else next(iter(value)).upper()
    name = editor.name_for(
        f"keras.regularizers.{kind}",
        known(site.call),
    )
    return f"{name}({', '.join(f'{part}={python_text(number)}' for part, number in value.items())})"


def _callback(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    if value != "ReduceLROnPlateau":
        raise NotChangeable(
            f"The schedule that can be put in is ReduceLROnPlateau. Received: {value!r}."
        )
    call = known(site.call)
    name = editor.name_for("keras.callbacks.ReduceLROnPlateau", call)
    monitor = "loss" if keyword(call, "validation_data", "validation_split") is None else "val_loss"
    text = f'{name}(monitor="{monitor}", factor=0.5, patience=2)'
    given = argument(call, 5, "callbacks")
    if isinstance(given, ast.List):
        editor.insert(given, [text], None)
    else:
        editor.set_argument(call, "callbacks", f"[{text}]")


def _scale(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """A line before training that scales the inputs, and the held-out inputs by the same
    numbers.
    """
    call = site.call
    data = argument(call, 0, "x") if call is not None else None
    if call is None or not isinstance(data, ast.Name):
        raise NotChangeable("The inputs are not one variable that could be scaled before training.")
    if value not in ("standardize", "scale"):
        raise NotChangeable(
            f"Inputs can be scaled by `standardize` or `scale`. Received: {value!r}."
        )
    name = data.id
    others = [other for other in _held_out(editor, site) if other != name]
    measured = f"{name}_max = abs({name}).max()"
    scaled = f"{{0}} = {{0}} / {name}_max"
    if value == "standardize":
        measured = f"{name}_mean, {name}_std = {name}.mean(0), {name}.std(0) + 1e-7"
        scaled = f"{{0}} = ({{0}} - {name}_mean) / {name}_std"
    editor.before(
        statement_of(call),
        measured,
        *(scaled.format(one) for one in [name, *others]),
    )


def _held_out(editor: SourceEditor, site: EditSite) -> list[str]:
    """Other inputs of the same model (validation, evaluation, prediction) that are bound before
    training.
    """
    whole = editor.analysis.calls("evaluate", "predict", "fit")
    calls = [call for call in whole if scope_of(call) is site.scope]
    held = [
        (
            keyword(call, "validation_data"),
            argument(call, 0, "x"),
        )
        for call in calls
    ]
    given = [
        one
        for tuples, x in held
        for one in (*getattr(tuples, "elts", ())[:1], x)
        if one is not None
    ]
    line = known(site.call).lineno
    bound = [bindings_of(one) for one in given]
    before = [one for one in bound if one and all(getattr(b.node, "lineno", 0) < line for b in one)]
    return list(dict.fromkeys(one[0].name for one in before))


def add_initialiser(
    editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue
) -> None:
    """`nn.init.xavier_uniform_(self.fc1.weight)` after the layer."""
    layer = site.layer
    if layer is None or not isinstance(value, str):
        raise NotChangeable(f"An initialiser is a name. Received: {value!r}.")
    name = torch_initialiser(value)
    part = "bias" if param.kind is Kind.BIAS_INIT else "weight"
    extra = ", 0.0" if name == "constant_" else ""
    editor.claim_place(layer.call, layer.path, wraps=False)
    called = editor.name_for(f"torch.nn.init.{name}", layer.call)
    editor.after(
        statement_of(layer.call),
        f"{called}({_reference(layer)}.{part}{extra})",
    )


def torch_initialiser(value: str) -> str:
    """The function of `torch.nn.init` of that name, with or without its underscore."""
    name = value if value.endswith("_") else f"{value}_"
    if name not in lexicon.TORCH_INITIALIZERS:
        raise NotChangeable(f"torch.nn.init has no function of that name. Received: {value!r}.")
    return name


def _reference(layer: LayerSite) -> str:
    """How the statement after its construction can call the layer."""
    if layer.position.kind is ContainerKind.ATTRIBUTE:
        return f"self.{layer.path}"
    in_class = layer.scope.enclosing_class() is not None
    if not in_class and (not layer.model or layer.position.top is None):
        raise NotChangeable("The layer has no name by which it could be initialised.")
    first, *parts = (
        layer.path.split(".")
        if in_class
        else [
            layer.model,
            *layer.path.split("."),
        ]
    )
    steps = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in parts)
    return f"self.{first}{steps}" if in_class else first + steps


def remove_argument(editor: SourceEditor, site: EditSite) -> None:
    """Take out a written argument, so that the library's default holds."""
    if site.call is None or site.found is None:
        raise NotChangeable("It is not the argument of a call.")
    if all(given.value is not site.found.use for given in site.call.keywords):
        raise NotChangeable("It is a positional argument; the call needs it.")
    editor.drop_argument(site.call, site.found.use)


STEPS = "step_size={third}, gamma=0.1"
SCHEDULES = {
    "CosineAnnealingLR": "T_max={epochs}",
    "StepLR": STEPS,
    "ExponentialLR": "gamma=0.95",
}


def set_in_loop(
    editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue
) -> None:
    """Put in the statement that is missing."""
    if param.kind is Kind.SCHEDULER:
        _schedule(editor, site, value)
        return
    if param.kind is Kind.MODE:
        _mode(editor, param, site)
        return
    node = known(site.node)
    index = site.scope.index
    found = [call for call in optimizer_steps(editor.analysis) if scope_of(call) is site.scope]
    zero = param.kind is Kind.ZERO_GRAD
    if zero and value is not True:
        only = "True is the only change"
        raise NotChangeable(f"Gradients are set to zero or not: {only}. Received: {value!r}.")
    if not zero and (not is_number(value) or value <= 0):  # type: ignore[operator]
        raise NotChangeable(f"Gradients are clipped at a positive number. Received: {value!r}.")
    if not found:
        raise NotChangeable(
            "The optimiser steps in another function than the one that makes the gradients."
        )
    if zero:
        clear(editor, found[0])
        return
    step = index.statement(found[0])
    optimizer = known(stepped(editor.analysis, found[0]))
    clip = editor.name_for("torch.nn.utils.clip_grad_norm_", node)
    lines = [f"{clip}({_model_name(editor, site.scope)}.parameters(), {python_text(value)})"]
    stepping = known(receiver(found[0]))
    if optimizer is not stepping:
        # Gradients are clipped in their own size, not as the scaler left them.
        lines.insert(0, f"{editor.text(stepping)}.unscale_({editor.text(optimizer)})")
    editor.before(step, *lines)


def _model_name(editor: SourceEditor, scope: Scope) -> str:
    """What the optimiser's parameters belong to, as this scope calls it."""
    purposes = Purposes(editor.reading.loops)
    called = (call for call in scope.index.calls if scope_of(call) is scope)
    models = (call.func for call in called if purposes.is_model(call.func))
    names = [(dotted_text(model), scope) for model in models]
    for _, site in reversed(editor.reading.of_kind(Kind.OPTIMIZER)):
        torch = site.call is not None and site.library == "torch"
        parameters = argument(known(site.call), 0, "params") if torch else None
        if isinstance(parameters, ast.Call) and method_name(parameters) == "parameters":
            names.insert(
                0,
                (dotted_text(known(receiver(parameters))), site.scope),
            )
    for name, at in names:
        if name and _known_here(name, at, scope):
            return name
    raise NotChangeable(
        "What the model is called where the gradients are made cannot be determined."
    )


def _known_here(name: str, at: Scope, scope: Scope) -> bool:
    first = name.partition(".")[0]
    if first == "self":
        return at.enclosing_class() is not None and at.enclosing_class() is scope.enclosing_class()
    holders = [binding.holder for binding in scope.find(first)[:1]]
    return any(one is at or at is scope or one.parent is None or one.is_function for one in holders)


def _schedule(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """A scheduler after the optimiser, and its step at the end of every epoch."""
    if not isinstance(value, str) or value not in SCHEDULES:
        raise NotChangeable(
            f"These schedules can be put in: {', '.join(SCHEDULES)}. Received: {value!r}."
        )
    call = known(site.call)
    loop = site.node
    assert isinstance(loop, ast.For | ast.AsyncFor | ast.While)
    statement = statement_of(call)
    loop_scope = scope_of(loop)
    name = dotted_text(assigned(statement, call))
    if not name or loop_scope.file != site.scope.file:
        apart = "are too far apart for a schedule to be put in"
        raise NotChangeable(f"The optimiser and the epoch loop {apart}.")
    if loop_scope is not site.scope and "." not in name:
        raise NotChangeable("The optimiser is made in another function than the epoch loop.")
    holder = f"{name.rpartition('.')[0]}.scheduler" if "." in name else "scheduler"
    arguments = range_arguments(iterated(loop))
    number = editor.analysis.values.compute(count_of(arguments)) if arguments else None
    epochs = number if isinstance(number, int) else 10
    given = SCHEDULES[value].format(
        epochs=epochs,
        third=max(1, epochs // 3),
    )
    made = editor.name_for(f"torch.optim.lr_scheduler.{value}", call)
    editor.after(
        statement,
        f"{holder} = {made}({name}, {given})",
    )
    editor.after(
        loop.body[-1],
        f"{holder}.step()",
    )


def _mode(editor: SourceEditor, param: Hyperparameter, site: EditSite) -> None:
    """`model.eval()` before an evaluation and `model.train()` after it, or `train()` in every
    epoch.
    """
    name = _model_name(editor, site.scope)
    node = site.node
    assert isinstance(node, ast.stmt)
    if param.id.layer == "train":
        assert isinstance(node, ast.For | ast.AsyncFor | ast.While)
        editor.before(
            node.body[0],
            f"{name}.train()",
        )
        return
    editor.before(node, f"{name}.eval()")
    trains = any(method_name(call) == "train" for call in site.scope.index.calls)
    if editor.reading.loops.in_loop(node) and not trains:
        editor.after(node, f"{name}.train()")


def remove_schedule(editor: SourceEditor, site: EditSite) -> None:
    """Take out a scheduler and its steps, when nothing else uses it."""
    index = site.scope.index
    call = known(site.call)
    target = assigned(index.statement(call), call)
    if not isinstance(target, ast.Name):
        raise NotChangeable("The scheduler is made in a way that cannot be taken out.")
    steps = [(node, index.statement(node)) for node in index.reads(target.id)]
    for node, step in steps:
        called = step.value if isinstance(step, ast.Expr) else None
        if (
            not isinstance(called, ast.Call)
            or method_name(called) != "step"
            or receiver(called) is not node
        ):
            raise NotChangeable("The scheduler is used for more than its steps.")
    for statement in (
        *(step for _, step in steps),
        index.statement(call),
    ):
        editor.remove_statement(statement)
