"""Read a program: all its hyperparameters, each with the site where it can be turned, and its layers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from reenact.errors import UnreadableProgram
from reenact.program.hyperparameter import Hyperparameter, HyperparameterId, Kind, Written
from reenact.program.lines import LineTable
from reenact.program.program import Program
from reenact.program.read.alternatives import alternatives
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site
from reenact.program.read.data_hyperparameters import read_data
from reenact.program.read.ends import Spot
from reenact.program.read.fallback import read_names
from reenact.program.read.habits import read_habits
from reenact.program.read.initial import read_missing_initialisers
from reenact.program.read.keras_training import read_keras_training
from reenact.program.read.layer_hyperparameters import read_layers
from reenact.program.read.loop_hyperparameters import read_loops
from reenact.program.read.loops import Loops
from reenact.program.read.model import Models
from reenact.program.read.scaling import read_scaling
from reenact.program.read.supervision import Supervision
from reenact.program.read.torch_training import read_torch_training
from reenact.program.read.trainers import read_trainers
from reenact.program.read.widths import why_fixed
from reenact.types import Place


@dataclass(frozen=True, eq=False)
class Reading:
    """What a program says, and where."""

    program: Program
    analysis: ProgramAnalysis
    models: Models
    loops: Loops
    hyperparameters: tuple[Hyperparameter, ...]
    sites: dict[HyperparameterId, Site]
    supervision: Supervision

    def hyperparameter(self, param_id: HyperparameterId) -> Hyperparameter | None:
        return next((param for param in self.hyperparameters if param.id == param_id), None)


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
    ]
    drafts += [
        *read_trainers(analysis),
        *read_data(analysis),
        *read_loops(analysis, loops),
        *read_scaling(analysis, models),
    ]
    drafts += list(read_missing_initialisers(analysis, models, drafts))
    drafts += list(read_habits(analysis, models, loops, drafts))
    drafts += list(read_names(analysis, drafts))
    kept = _merge(drafts)
    named = _name(analysis, kept)
    places = _Places(analysis)
    params = tuple(_hyperparameter(analysis, models, param_id, draft, places) for param_id, draft in named)
    sites = {param_id: draft.site for param_id, draft in named}
    supervision = Supervision(analysis, models, params, sites)
    params = tuple(supervision.fitting(param, sites[param.id]) for param in params)
    return Reading(program, analysis, models, loops, params, sites, supervision)


def _merge(drafts: list[Draft]) -> list[Draft]:
    """One place is one hyperparameter, however many calls use it."""
    kept: list[Draft] = []
    at: dict[tuple[object, ...], Draft] = {}
    for draft in drafts:
        key: tuple[object, ...] = (draft.spot, draft.kind is Kind.LAYER)
        if draft.written is Written.ABSENT:
            key = (draft.spot, draft.kind, draft.site.argument, draft.layer)
        first = at.get(key)
        if first is None:
            at[key] = draft
            kept.append(draft)
            continue
        first.uses += [use for use in draft.uses if use not in first.uses]
        if draft.kind is not first.kind:
            first.also.add(draft.kind)
    return kept


def _name(analysis: ProgramAnalysis, drafts: list[Draft]) -> list[tuple[HyperparameterId, Draft]]:
    """Structural names: file, model, layer, kind, and a number among those that share all four."""
    groups: dict[tuple[str, str, str, Kind], list[Draft]] = {}
    for draft in drafts:
        groups.setdefault((draft.site.scope.file, draft.model, draft.layer, draft.kind), []).append(draft)
    ids: dict[int, HyperparameterId] = {}
    for key, members in groups.items():
        for number, draft in enumerate(sorted(members, key=lambda item: _owner_position(analysis, item))):
            ids[id(draft)] = HyperparameterId(*key, number)
    return [(ids[id(draft)], draft) for draft in drafts]


def _owner_position(analysis: ProgramAnalysis, draft: Draft) -> int:
    """Where the call or statement stands that the hyperparameter belongs to: setting a value does not move
    it."""
    node = draft.site.call or draft.site.node
    if node is None:
        return draft.spot.span.start
    return analysis.sources.index(draft.site.scope).lines.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]


class _Places:
    """Turns spots into places, one line table a file."""

    def __init__(self, analysis: ProgramAnalysis) -> None:
        self.analysis = analysis
        self.tables: dict[str, LineTable] = {}

    def __call__(self, spot: Spot) -> Place:
        if spot.file not in self.tables:
            index = self.analysis.sources.indexes.get(spot.file)
            file = self.analysis.program.file(spot.file)
            text = file.text if file is not None else ""
            self.tables[spot.file] = index.lines if index is not None else LineTable(text)
        return self.tables[spot.file].place(PurePosixPath(spot.file), spot.span)


def _hyperparameter(
    analysis: ProgramAnalysis, models: Models, param_id: HyperparameterId, draft: Draft, places: _Places
) -> Hyperparameter:
    reason = why_fixed(analysis, models, draft)
    return Hyperparameter(
        id=param_id,
        value=draft.value,
        written=draft.written,
        place=places(draft.spot),
        alternatives=() if reason else alternatives(draft),
        text=draft.text,
        layer_type=draft.layer_type,
        role=draft.role,
        library=draft.site.library,
        uses=tuple(places(use) for use in draft.uses),
        also=tuple(sorted(draft.also)),
        default=draft.default,
        overridden=_overridden(draft),
        computed=draft.computed,
        changeable=not reason,
        reason=reason,
    )


def _overridden(draft: Draft) -> str:
    given = draft.given
    return "" if given is None else (given.flag or "the command line")
