"""Outputs, loss and labels together: the labels a loss takes, where they meet the outputs, and
which other losses could be where one is.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.ends import literal
from reenact.program.flow.library_names import last_name
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.syntax.calls import argument, entries, keyword, method_name, receiver
from reenact.program.training import lexicon
from reenact.program.training.analysis import UNKNOWN_OUTPUT, EditSite, ProgramAnalysis
from reenact.program.training.layers import LayerSite, activation_word
from reenact.program.training.model import Models
from reenact.program.training.vocabulary import Form, activation_for, form_of, takes_any_number
from reenact.types import JsonValue

FITS = frozenset(("fit", "evaluate", "fit_generator", "train_on_batch", "test_on_batch"))
SHAPING = frozenset(
    (
        "view",
        "reshape",
        "flatten",
        "squeeze",
        "unsqueeze",
        "float",
        "transpose",
        "permute",
    )
)


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """One place where labels are given; the outputs next to them where both stand in one call."""

    labels: ast.expr
    outputs: ast.expr | None = None


def meetings(analysis: ProgramAnalysis, site: EditSite) -> list[Meeting]:
    """Every place that hands labels to this loss: calls of it, and what Keras trains and
    evaluates with.
    """
    assert site.call is not None
    torch = site.library == "torch"
    found = []
    if torch and site.callee is not None and site.callee.dotted.startswith("torch.nn.functional."):
        target = argument(site.call, 1, "target")
        if target is None:
            return []
        return [Meeting(target, argument(site.call, 0, "input"))]
    for call in analysis.calls(*FITS) if not torch else ():
        for labels in (
            argument(call, 1, "y"),
            *getattr(keyword(call, "validation_data"), "elts", ())[1:2],
        ):
            own = part_of(labels, site.output) if isinstance(labels, ast.Dict) else labels
            found += [Meeting(own)] if own is not None else []
    uses = [call for call in analysis.uses.get(site.call, ()) if method_name(call) not in FITS]
    pairs = [call.args[:2] if torch else call.args[1::-1] for call in uses]
    return [
        *found,
        *(Meeting(labels, outputs) for outputs, labels in pairs),
    ]


def part_of(given: ast.Dict, output: str) -> ast.expr | None:
    """Of what is given by the names of outputs, that of this one."""
    return entries(given).get(output) if output else None


def can_be_repeated(node: ast.expr | None) -> bool:
    """A name, or a name in another shape: writing it twice computes nothing twice."""
    while isinstance(node, ast.Attribute) or (
        isinstance(node, ast.Call) and method_name(node) in SHAPING
    ):
        node = receiver(node) if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name)


def caller_of(outputs: ast.expr | None) -> str:
    """The name that is called to give the outputs: `net` of `net(x).squeeze()`; empty when it
    is not one.
    """
    while isinstance(outputs, ast.Call) and method_name(outputs) in SHAPING:
        outputs = receiver(outputs)
    called = outputs.func if isinstance(outputs, ast.Call) else None
    return called.id if isinstance(called, ast.Name) else ""


ENCODERS = frozenset(
    ("one_hot", "to_categorical", "get_dummies", "LabelBinarizer", "OneHotEncoder", "eye")
)
PROBABILITIES = frozenset(("sigmoid", "softmax", "log_softmax"))
COUNTS = frozenset(
    (
        "AUC",
        "Accuracy",
        "BinaryAccuracy",
        "CategoricalAccuracy",
        "ConfusionMatrix",
        "F1Score",
        "SparseCategoricalAccuracy",
        "acc",
        "accuracy",
        "accuracy_score",
        "argmax",
        "auc",
        "balanced_accuracy_score",
        "binary_accuracy",
        "categorical_accuracy",
        "classification_report",
        "confusion_matrix",
        "f1_score",
        "roc_auc_score",
        "sparse_categorical_accuracy",
    )
)
"""What counts right answers: functions and classes of the frameworks, and metrics by their name."""
ADDS_UP = ("sum", "mean", "float", "count_nonzero", "all")


def counts_answers(node: ast.AST) -> bool:
    """Whether a piece of a program counts right answers: `argmax`, a metric of a framework, or
    `(a == b).sum()`.
    """
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return node.value in COUNTS
        return False
    if not isinstance(node, ast.Call):
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else method_name(node)
    if name in COUNTS:
        return True
    compared = node.func.value if isinstance(node.func, ast.Attribute) else None
    parts = [*node.args, *([compared] if compared is not None else [])]
    return name in ADDS_UP and any(_is_equality(part) for part in parts)


def _is_equality(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return any(isinstance(one, ast.Eq) for one in node.ops)
    return isinstance(node, ast.Call) and method_name(node) in ("eq", "equal")


class Supervision:
    """What the text reports a program's outputs and labels."""

    def __init__(
        self,
        models: Models,
        sited: Sequence[tuple[Hyperparameter, EditSite]],
    ) -> None:
        self.analysis = models.analysis
        self.models = models
        self._losses = [(param, site) for param, site in sited if param.kind is Kind.LOSS]
        wide = [pair for pair in reversed(sited) if pair[0].kind in (Kind.UNITS, Kind.FILTERS)]
        self._widths = {site.layer: param.in_force for param, site in wide}

    def fitting(self, param: Hyperparameter, site: EditSite) -> Hyperparameter:
        """A hyperparameter without those alternatives that could not stand in its place."""
        kept = param.alternatives
        if param.kind is Kind.LOSS:
            kept = tuple(
                v
                for v in kept
                if not self.why_unfit(
                    site,
                    str(param.value),
                    str(v),
                )
            )
        elif param.kind is Kind.ACTIVATION and self.needs_probabilities(site) is not None:
            kept = tuple(v for v in kept if gives_probabilities(v))
        if kept == param.alternatives:
            return param
        return replace(param, alternatives=kept)

    def needs_probabilities(self, site: EditSite) -> Hyperparameter | None:
        """The loss that stops the program when what an activation gives is not between 0 and 1."""
        acting = [
            site.layer,
            *(part.call for part in (site.activation, site.layer) if part is not None),
        ]
        found = [self._strict[one] for one in acting if one in self._strict]
        return self._losses[min(found)][0] if found else None

    @cached_property
    def _strict(self) -> dict[LayerSite | ast.Call | None, int]:
        """Number of the first loss that stops it so, by the layers it looks at and by what
        activates these.
        """
        found: dict[LayerSite | ast.Call | None, int] = {}
        for number, (param, site) in enumerate(self._losses):
            strict = site.library == "torch" and activation_for(str(param.value)) == "sigmoid"
            for layer in self.outputs(site) if strict else ():
                found.setdefault(layer, number)
                if layer.activation is not None:
                    found.setdefault(layer.activation.call, number)
        return found

    def outputs(self, site: EditSite) -> list[LayerSite]:
        """The last layers of the models that this loss looks at."""
        found = [one for one in self.models.layers if one.output and one.library == site.library]
        if site.output:
            names = [constant_of(keyword(layer.call, "name")) for layer in found]
            pairs = zip(found, names, strict=True)
            return [layer for layer, name in pairs if literal(name) == site.output]
        if site.library == "torch":
            called = {caller_of(meeting.outputs) for meeting in meetings(self.analysis, site)}
            return [layer for layer in found if layer.model in called] or found
        return found

    def width(self, site: EditSite) -> int | None:
        """Outputs that this loss looks at; none where that cannot be determined."""
        widths = {str(self._widths.get(layer)) for layer in self.outputs(site)}
        only = next(iter(widths)) if len(widths) == 1 else ""
        return int(only) if only.isdecimal() else None

    @cached_property
    def encoded(self) -> bool:
        """The program writes its labels as one column a class."""
        dotted = self.analysis.sources.dotted
        calls = self.analysis.calls()
        called = {last_name(dotted(call.func)) or method_name(call) for call in calls}
        return bool(called & ENCODERS)

    @cached_property
    def _counts(self) -> bool:
        """The program counts right answers somewhere."""
        trees = [index.tree for index in self.analysis.sources.indexes.values()]
        return any(counts_answers(node) for tree in trees for node in ast.walk(tree))

    def sorts(self, site: EditSite) -> bool:
        """The program distinguishes classes: its outputs are probabilities, or it counts right
        answers.
        """
        if self._words(site) & PROBABILITIES:
            return True
        if not site.output:
            return self.encoded or self._counts
        # Metrics that `compile` is asked for, of one of several outputs.
        asked = [keyword(call, "metrics") for call in self.analysis.calls("compile")]
        own = [part_of(one, site.output) for one in asked if isinstance(one, ast.Dict)]
        parts = [node for metric in own if metric is not None for node in ast.walk(metric)]
        written = [read_through(node) if isinstance(node, ast.Name) else node for node in parts]
        return any(map(counts_answers, written))

    def _words(self, site: EditSite) -> set[str]:
        return {
            layer.activation.word for layer in self.outputs(site) if layer.activation is not None
        }

    def why_unfit(
        self,
        site: EditSite,
        old: str,
        new: str,
        width: int | None = None,
    ) -> str:
        """Why one loss cannot be where another is; empty when it can."""
        has = _form(site, old)
        wants = _form(site, new)
        word = activation_for(new) if site.library == "torch" else ""
        if word not in ("", "linear") and not self.outputs(site):
            return (
                f"{new} needs outputs that went through {word}, and the last layer cannot be read"
            )
        width = self.width(site) if width is None else width
        if width == 1 and wants in (Form.CLASSES, Form.COLUMNS):
            return f"{new} compares the outputs of several classes, and the model has one output"
        if has is None or has is wants:
            return ""
        if site.output == UNKNOWN_OUTPUT:
            return (
                "the model has several outputs, and which of them this loss is for cannot be read"
            )
        if has is Form.CLASSES:
            return self._why_not_columns(site, width)
        if wants is None:
            return ""
        if has is Form.NUMBERS and not self.sorts(site) and not takes_any_number(new):
            why = "takes any numbers, and nothing in the program says that its labels are classes"
            return f"{new} takes {wants.value}; {old} {why}"
        if wants is Form.CLASSES:
            return self._why_not_classes(site, has, new)
        return ""

    def _why_not_columns(self, site: EditSite, width: int | None) -> str:
        """Numbers of classes can become columns when it is known how many there are."""
        places = meetings(self.analysis, site)
        if not places:
            return (
                "the place where its labels are given cannot be read, and they would have to change"
            )
        seen = [place.outputs for place in places]
        if width is None and (site.library != "torch" or not all(map(can_be_repeated, seen))):
            return (
                "how many classes there are cannot be read, and its labels would become a column "
                "for each"
            )
        return ""

    def _why_not_classes(self, site: EditSite, has: Form, new: str) -> str:
        one_class = self.encoded or self._words(site) & {"softmax", "log_softmax"}
        if has is Form.BITS and not one_class:
            return f"{new} takes one class per row, and every output has a label of its own here"
        if site.library == "torch" and not self.encoded and self.width(site) is None:
            return (
                f"{new} takes the number of a class, and how many outputs there are cannot be read"
            )
        if self.labels_are_columns(site, has) and not meetings(self.analysis, site):
            return (
                "the place where its labels are given cannot be read, and they would have to change"
            )
        return ""

    def labels_are_columns(self, site: EditSite, has: Form) -> bool:
        """Labels of a loss that compares output by output have as many columns as the output; Keras
        lets one number stand for all of them.
        """
        return self.encoded or has is Form.BITS or site.library == "torch"


def bends(site: EditSite, layer: LayerSite) -> bool:
    """Whether an activation acts on the output of this layer, however it is written."""
    acting = [part.call for part in (site.activation, site.layer) if part is not None]
    return site.layer is layer or (layer.activation is not None and layer.activation.call in acting)


def gives_probabilities(activation: JsonValue) -> bool:
    return activation_word(str(activation)) in ("sigmoid", "softmax", "hardsigmoid")


def _form(site: EditSite, loss: str) -> Form | None:
    if site.library == "keras":
        loss = lexicon.KERAS_LOSS_CLASS_OF.get(loss, loss)
    return form_of(loss)
