"""The library whose training a program is, as its imports and the calls of old versions tell it."""

import ast
import re
from enum import StrEnum
from functools import lru_cache

from reenact.program.flow.library_names import last_name
from reenact.program.flow.sources import Sources
from reenact.program.program import Program
from reenact.program.syntax.calls import keyword, method_name
from reenact.program.syntax.index import dotted_text


class Framework(StrEnum):
    """The library whose training it is."""

    TORCH = "torch"
    LIGHTNING = "lightning"
    TRANSFORMERS = "transformers"
    KERAS3 = "keras3"
    TF_KERAS = "tf.keras"
    KERAS_OLD = "keras1-2"
    """Written for Keras 1 or 2."""
    UNKNOWN = "unknown"


OLD_MODULES = re.compile(
    r"^keras\.(layers\.(core|convolutional|normalization|recurrent|pooling|embeddings|advanced_activations|merge|"
    r"wrappers|noise|local)|utils\.np_utils|preprocessing\.(sequence|text)|engine|legacy|wrappers|datasets\.\w+\.old)"
)
OLD_IMPORTS = frozenset(
    {
        "keras.utils.np_utils",
        "keras.layers.Convolution2D",
        "keras.layers.Merge",
        "keras.objectives",
        "keras.models.Input",
    }
)
OLD_CALLS = frozenset(
    {
        "fit_generator",
        "evaluate_generator",
        "predict_generator",
        "predict_classes",
        "predict_proba",
    }
)
OLD_KEYWORDS = frozenset(
    {
        "nb_epoch",
        "nb_filter",
        "nb_row",
        "nb_col",
        "border_mode",
        "samples_per_epoch",
        "W_regularizer",
        "batch_input_shape",
    }
)
OLD_NAMES = frozenset(("numpy.float", "numpy.int", "numpy.object", "keras.backend.function"))
OLD_LOSS = "logcosh"
"""What Keras 3, or the numpy that it needs, no longer has."""
TRAINERS = frozenset(["Trainer", "TrainingArguments", "Seq2SeqTrainer", "Seq2SeqTrainingArguments"])


@lru_cache(maxsize=256)
def framework_of(program: Program) -> Framework:
    """The framework of a program; UNKNOWN when it imports none."""
    sources = Sources(program)
    indexes = list(sources.indexes.values())
    imported = {binding.dotted for index in indexes for binding in index.imports}
    tops = {name.partition(".")[0] for name in imported}
    if "transformers" in tops and any(name.rpartition(".")[2] in TRAINERS for name in imported):
        return Framework.TRANSFORMERS
    if tops & {"lightning", "pytorch_lightning"}:
        return Framework.LIGHTNING
    if "keras" in tops:
        old = any(OLD_MODULES.match(name) or name in OLD_IMPORTS for name in imported)
        called = any(_old_call(call) for index in indexes for call in index.calls)
        gone = any(_is_gone(sources, node) for index in indexes for node in index.nodes)
        return Framework.KERAS_OLD if old or called or gone else Framework.KERAS3
    if "tensorflow" in tops or "tf_keras" in tops:
        return Framework.TF_KERAS
    if "torch" in tops:
        return Framework.TORCH
    return Framework.TRANSFORMERS if "transformers" in tops else Framework.UNKNOWN


def _is_gone(sources: Sources, node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return sources.dotted(node) in OLD_NAMES
    return isinstance(node, ast.Constant) and node.value == OLD_LOSS


def _old_call(call: ast.Call) -> bool:
    name = last_name(dotted_text(call.func)) or method_name(call)
    if name in OLD_CALLS or any(part.arg in OLD_KEYWORDS for part in call.keywords):
        return True
    if (
        name in ("Dense", "Convolution2D", "LSTM", "GRU")
        and keyword(call, "init", "output_dim") is not None
    ):
        return True
    optimizer = name in (
        "SGD",
        "Adam",
        "RMSprop",
        "Adagrad",
        "Adadelta",
        "Adamax",
        "Nadam",
    )
    return optimizer and keyword(call, "lr", "decay") is not None and not call.args
