"""When no construction says it: a constant, option or field that is named after what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind, Written
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site, Style
from reenact.program.read.calls import method_name
from reenact.program.read.ends import is_number
from reenact.program.read.members import PARSE
from reenact.program.read.names import plain_name
from reenact.program.read.options import argparse_options
from reenact.program.read.scope import How
from reenact.program.words import words

NAMES: dict[Kind, frozenset[str]] = {
    Kind.BATCH_SIZE: frozenset(["batchsize", "batch", "bs", "minibatchsize", "minibatch", "trainbatchsize"]),
    Kind.EPOCHS: frozenset(words("epochs nepochs numepochs maxepochs nbepoch nepoch epochnum")),
    Kind.LEARNING_RATE: frozenset(["lr", "learningrate", "baselr", "initlr"]),
}


def read_names(analysis: ProgramAnalysis, drafts: list[Draft]) -> Iterator[Draft]:
    """Drafts for a kind that no reader found written, by name, at the top of a file or on the command
    line."""
    written = {draft.kind for draft in drafts if draft.written is not Written.ABSENT}
    trained = {draft.kind for draft in drafts} & {Kind.OPTIMIZER, Kind.LOSS}
    for kind, names in NAMES.items():
        if kind not in written and trained:
            yield from list(_constants(analysis, kind, names)) or list(_options(analysis, kind, names))


def _constants(analysis: ProgramAnalysis, kind: Kind, names: frozenset[str]) -> Iterator[Draft]:
    for index in analysis.sources.indexes.values():
        for name, bindings in index.module.bindings.items():
            if plain_name(name) not in names or len(bindings) != 1:
                continue
            binding = bindings[0]
            if binding.how is not How.ASSIGN or binding.value is None or binding.pick:
                continue
            site = Site(Style.VALUE, "torch", index.module, node=binding.node)
            for draft in analysis.value_drafts(kind, binding.value, site):
                if is_number(draft.value) and _used(index.tree, name):
                    draft.written = Written.CONSTANT if draft.written is Written.LITERAL else draft.written
                    yield draft


def _options(analysis: ProgramAnalysis, kind: Kind, names: frozenset[str]) -> Iterator[Draft]:
    """An option of the command line whose attribute somebody reads."""
    for call, scope, index in analysis.calls():
        if method_name(call) not in PARSE:
            continue
        for option in argparse_options(analysis.sources, call, scope):
            if (
                plain_name(option.dest) not in names
                or option.default is None
                or not _read(index.tree, option.dest)
            ):
                continue
            site = Site(Style.VALUE, "torch", option.scope, option.call, node=option.call)
            for end in analysis.follower.members.option(option, 0, parse=call):
                draft = analysis.found_draft(
                    kind, analysis.values.found(end, option.default, option.scope), site
                )
                if is_number(draft.value):
                    yield draft


def _read(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(tree)
    )


def _used(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(tree)
    )
