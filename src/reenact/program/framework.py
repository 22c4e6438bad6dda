"""Which framework a program is written for, found out by reading its imports and a few old words."""

from __future__ import annotations

import ast
import re
from enum import StrEnum
from functools import lru_cache

from reenact.program.program import Program
from reenact.program.read.calls import keyword
from reenact.program.read.index import FileIndex, index_of
from reenact.program.source import Language
from reenact.program.words import words


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
    ("keras.utils.np_utils", "keras.layers.Convolution2D", "keras.layers.Merge", "keras.objectives")
)
OLD_CALLS = frozenset(
    ["fit_generator", "evaluate_generator", "predict_generator", "predict_classes", "predict_proba"]
)
OLD_KEYWORDS = frozenset(
    words("nb_epoch nb_filter nb_row nb_col border_mode samples_per_epoch W_regularizer init output_dim")
)
TRAINERS = frozenset(["Trainer", "TrainingArguments", "Seq2SeqTrainer", "Seq2SeqTrainingArguments"])


@lru_cache(maxsize=256)
def framework_of(program: Program) -> Framework:
    """The framework of a program; UNKNOWN when it imports none."""
    indexes = [
        index
        for file in program.files
        if file.language in (Language.PYTHON, Language.NOTEBOOK)
        for index in [index_of(file)]
        if isinstance(index, FileIndex)
    ]
    imported = {binding.dotted for index in indexes for binding in index.imports}
    tops = {name.partition(".")[0] for name in imported}
    if "transformers" in tops and any(name.rpartition(".")[2] in TRAINERS for name in imported):
        return Framework.TRANSFORMERS
    if tops & {"lightning", "pytorch_lightning"}:
        return Framework.LIGHTNING
    if "keras" in tops:
        return Framework.KERAS_OLD if _is_old(indexes, imported) else Framework.KERAS3
    if "tensorflow" in tops or "tf_keras" in tops:
        return Framework.TF_KERAS
    if "torch" in tops:
        return Framework.TORCH
    return Framework.TRANSFORMERS if "transformers" in tops else Framework.UNKNOWN


def _is_old(indexes: list[FileIndex], imported: set[str]) -> bool:
    if any(OLD_MODULES.match(name) or name in OLD_IMPORTS for name in imported):
        return True
    return any(_old_call(call) for index in indexes for call in index.calls)


def _old_call(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in OLD_CALLS or any(part.arg in OLD_KEYWORDS - {"init", "output_dim"} for part in call.keywords):
        return True
    layer = name in ("Dense", "Convolution2D", "LSTM", "GRU")
    if layer and keyword(call, "init", "output_dim") is not None:
        return True
    optimizer = name in ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam")
    return optimizer and keyword(call, "lr", "decay") is not None and not call.args
