"""When no construction says it: a constant, option or field that is named after what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.knob import Kind, Written
from reenact.program.read.desk import Desk, Draft, Site, Style
from reenact.program.read.ends import is_number
from reenact.program.read.names import plain_name
from reenact.program.read.scope import How
from reenact.program.words import words

NAMES: dict[Kind, frozenset[str]] = {
    Kind.BATCH_SIZE: frozenset(["batchsize", "batch", "bs", "minibatchsize", "minibatch", "trainbatchsize"]),
    Kind.EPOCHS: frozenset(words("epochs nepochs numepochs maxepochs nbepoch nepoch epochnum")),
    Kind.LEARNING_RATE: frozenset(["lr", "learningrate", "baselr", "initlr"]),
}


def read_names(desk: Desk, drafts: list[Draft]) -> Iterator[Draft]:
    """Drafts for a kind that no reader found written, by name, at the top of a file."""
    written = {draft.kind for draft in drafts if draft.written is not Written.ABSENT}
    trained = {draft.kind for draft in drafts} & {Kind.OPTIMIZER, Kind.LOSS}
    for kind, names in NAMES.items():
        if kind in written or not trained:
            continue
        for index in desk.sources.indexes.values():
            for name, bindings in index.module.bindings.items():
                if plain_name(name) not in names or len(bindings) != 1:
                    continue
                binding = bindings[0]
                if binding.how is not How.ASSIGN or binding.value is None or binding.pick:
                    continue
                site = Site(Style.VALUE, "torch", index.module, node=binding.node)
                for draft in desk.value_drafts(kind, binding.value, site):
                    if is_number(draft.value) and _used(index.tree, name):
                        draft.written = (
                            Written.CONSTANT if draft.written is Written.LITERAL else draft.written
                        )
                        yield draft


def _used(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(tree)
    )
