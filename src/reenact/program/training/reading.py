"""Read a program: all its hyperparameters, each with the site where it can be turned, and its
layers.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from reenact.errors import UnreadableProgram
from reenact.program.flow.ends import spot_of
from reenact.program.hyperparameter import (
    Hyperparameter,
    HyperparameterId,
    Kind,
)
from reenact.program.program import Program
from reenact.program.training.alternatives import alternatives
from reenact.program.training.analysis import Draft, EditSite, ProgramAnalysis
from reenact.program.training.by_hand import read_by_hand
from reenact.program.training.data import read_data, read_scaling
from reenact.program.training.habits import read_habits
from reenact.program.training.keras_training import read_keras_training
from reenact.program.training.layer_hyperparameters import (
    read_layers,
    read_missing_initialisers,
)
from reenact.program.training.loops import Loops, read_loops
from reenact.program.training.model import Models, why_fixed
from reenact.program.training.purpose import Purposes
from reenact.program.training.supervision import Supervision
from reenact.program.training.torch_training import read_torch_training, read_trainers


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
    """Everything the text of a program reports; nothing is run, no library is imported."""
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
    purposes = Purposes(loops)
    drafts = [
        *read_layers(analysis, models),
        *read_torch_training(purposes, models),
        *read_keras_training(analysis),
        *read_trainers(analysis),
        *read_data(purposes),
        *read_loops(analysis, loops),
        *read_scaling(analysis, models),
    ]
    drafts += list(read_missing_initialisers(models, drafts))
    drafts += list(read_habits(models, purposes, drafts))
    drafts += list(read_by_hand(loops, drafts))
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
    return Reading(
        program,
        analysis,
        models,
        loops,
        fitting,
        sites,
        supervision,
    )


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
