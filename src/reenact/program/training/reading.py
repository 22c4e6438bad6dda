"""Read a program: all its hyperparameters, each with the site where it can be turned, and its
layers.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from reenact.errors import UnreadableProgram
from reenact.program.flow.ends import argparse_options, is_number, spot_of
from reenact.program.flow.members import PARSE
from reenact.program.hyperparameter import (
    Hyperparameter,
    HyperparameterId,
    Kind,
    Written,
)
from reenact.program.program import Program
from reenact.program.syntax.scope import scope_of
from reenact.program.syntax.targets import How
from reenact.program.training.alternatives import alternatives
from reenact.program.training.analysis import Draft, EditSite, ProgramAnalysis, Style
from reenact.program.training.data import read_data, read_scaling
from reenact.program.training.keras_training import read_keras_training
from reenact.program.training.layer_hyperparameters import (
    read_layers,
    read_missing_initialisers,
)
from reenact.program.training.loops import Loops, read_habits, read_loops
from reenact.program.training.model import Models, why_fixed
from reenact.program.training.supervision import Supervision
from reenact.program.training.torch_training import read_torch_training, read_trainers
from reenact.program.training.vocabulary import plain_name


@dataclass(frozen=True, eq=False)
class Reading:
    """What a program says, and where."""

    program: Program
    analysis: ProgramAnalysis
    models: Models
    loops: Loops
    hyperparameters: tuple[Hyperparameter, ...]
    sites: dict[HyperparameterId, EditSite]
    supervision: Supervision

    def of_kind(self, kind: Kind) -> list[tuple[Hyperparameter, EditSite]]:
        """The hyperparameters of a kind, each with its site."""
        return [
            (param, self.sites[param.id]) for param in self.hyperparameters if param.kind is kind
        ]


@lru_cache(maxsize=64)
def read(program: Program) -> Reading:
    """Everything the text of a program tells; nothing is run, no library is imported."""
    try:
        return _read(program)
    except RecursionError as error:
        raise UnreadableProgram(
            f"The program's definitions go round in circles. Received: {program.entry}.",
            next_step="Name a smaller script, or run it under `reenact watch`.",
        ) from error


def _read(program: Program) -> Reading:
    analysis = ProgramAnalysis(program)
    models = Models(analysis)
    loops = Loops(analysis)
    drafts = [
        *read_layers(analysis, models),
        *read_torch_training(analysis, models),
        *read_keras_training(analysis),
        *read_trainers(analysis),
        *read_data(analysis),
        *read_loops(analysis, loops),
        *read_scaling(analysis, models),
    ]
    drafts += list(read_missing_initialisers(models, drafts))
    drafts += list(read_habits(models, loops, drafts))
    drafts += list(read_names(analysis, drafts))
    drafts = _merge(drafts)
    _number(drafts)
    for draft in drafts:
        reason = why_fixed(models, draft)
        values = () if reason else alternatives(draft)
        draft.change(alternatives=values, changeable=not reason, reason=reason)
    sited = [(draft.param, draft.site) for draft in drafts]
    sites = {param.id: site for param, site in sited}
    supervision = Supervision(models, sited)
    fitting = tuple(supervision.fitting(param, site) for param, site in sited)
    return Reading(program, analysis, models, loops, fitting, sites, supervision)


def _merge(drafts: list[Draft]) -> list[Draft]:
    """One place is one hyperparameter, however many calls use it."""
    kept: list[Draft] = []
    at: dict[tuple[object, ...], Draft] = {}
    for draft in drafts:
        key: tuple[object, ...] = (draft.spot, draft.kind is Kind.LAYER)
        if draft.param.absent:
            key = (
                draft.spot,
                draft.kind,
                draft.site.argument,
                draft.param.id.layer,
            )
        first = at.get(key)
        if first is None:
            at[key] = draft
            kept.append(draft)
            continue
        uses = dict.fromkeys(
            (
                *first.param.uses,
                *draft.param.uses,
            )
        )
        kinds = {*first.param.also, draft.kind} - {first.kind}
        first.change(
            uses=tuple(uses),
            also=tuple(sorted(kinds)),
        )
    return kept


def _number(drafts: list[Draft]) -> None:
    """A number for each of those that share file, model, layer and kind, in the order in which what
    they belong to stands in the text: setting a value does not move it.
    """
    groups: dict[HyperparameterId, list[Draft]] = {}
    for draft in sorted(
        drafts,
        key=lambda one: spot_of(one.site.anchor).start,
    ):
        groups.setdefault(draft.param.id, []).append(draft)
    for shared, members in groups.items():
        for number, draft in enumerate(members):
            if number != shared.number:
                draft.change(id=replace(shared, number=number))


NAMES: dict[Kind, frozenset[str]] = {
    Kind.BATCH_SIZE: frozenset(
        ["batchsize", "batch", "bs", "minibatchsize", "minibatch", "trainbatchsize"]
    ),
    Kind.EPOCHS: frozenset(
        {"epochs", "nepochs", "numepochs", "maxepochs", "nbepoch", "nepoch", "epochnum"}
    ),
    Kind.LEARNING_RATE: frozenset(["lr", "learningrate", "baselr", "initlr"]),
}


def read_names(analysis: ProgramAnalysis, drafts: list[Draft]) -> Iterator[Draft]:
    """Drafts by name, at the top of a file or on the command line, of a kind that no reader
    found.
    """
    written = {draft.kind for draft in drafts if not draft.param.absent}
    trained = {draft.kind for draft in drafts} & {Kind.OPTIMIZER, Kind.LOSS}
    for kind, names in NAMES.items():
        if kind not in written and trained:
            yield from list(_constants(analysis, kind, names)) or list(
                _options(analysis, kind, names)
            )


def _constants(
    analysis: ProgramAnalysis,
    kind: Kind,
    names: frozenset[str],
) -> Iterator[Draft]:
    for index in analysis.sources.indexes.values():
        single = [
            (name, found[0]) for name, found in index.module.bindings.items() if len(found) == 1
        ]
        for name, binding in [pair for pair in single if plain_name(pair[0]) in names]:
            if binding.how is not How.ASSIGN or binding.pick:
                continue
            site = EditSite(Style.VALUE, "torch", node=binding.node)
            for draft in analysis.value_drafts(kind, binding.value, site):
                if is_number(draft.param.value) and _is_read(index.tree, name, ast.Name):
                    if draft.param.written is Written.LITERAL:
                        draft.change(written=Written.CONSTANT)
                    yield draft


def _options(
    analysis: ProgramAnalysis,
    kind: Kind,
    names: frozenset[str],
) -> Iterator[Draft]:
    """An option of the command line whose attribute somebody reads."""
    for call in analysis.calls(*PARSE):
        for option in argparse_options(analysis.sources, call):
            tree = scope_of(call).index.tree
            known = plain_name(option.dest) in names and _is_read(tree, option.dest, ast.Attribute)
            if not known or option.default is None:
                continue
            site = EditSite(
                Style.VALUE,
                "torch",
                option.call,
                node=option.call,
            )
            for end in analysis.follower.option(option, parse=call):
                draft = analysis.found_draft(
                    kind,
                    analysis.values.found(end, option.default),
                    site,
                )
                if is_number(draft.param.value):
                    yield draft


def _is_read(
    tree: ast.Module,
    name: str,
    kind: type[ast.Name | ast.Attribute],
) -> bool:
    """Whether a name, or an attribute of that name, is used anywhere."""
    nodes = (
        node for node in ast.walk(tree) if isinstance(node, kind) and isinstance(node.ctx, ast.Load)
    )
    return any(name == (node.id if isinstance(node, ast.Name) else node.attr) for node in nodes)
