"""What one finding rests on, drawn: before and after, the learning-rate range, one batch, its layer."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.diagnosis.diagnosis import DiagnosisFinding, VerifiedChange
from reenact.program.fault import Fault
from reenact.report.document import Picture
from reenact.report.plots import before_after_plot, line_plot
from reenact.report.svg import number
from reenact.report.svg_lines import Curve, Mark
from reenact.report.trace_plots import SHARE, marks_at, series_plot, visible
from reenact.rules.evidence import Evidence
from reenact.rules.layer_view import LayerView
from reenact.rules.measured import kernel_rows, output_rows

SHARES = ("dead_unit_share", "saturated_share", "zero_share")
STEPPING = (Fault.HLR, Fault.OCH, Fault.HMO, Fault.HSC, Fault.GCL)
"""Faults that show in the size of the steps."""


def finding_plots(one: DiagnosisFinding, evidence: Evidence) -> tuple[Picture, ...]:
    """What a finding rests on, and what came of changing it."""
    return (*_tried(one.tried), *_steps(one, evidence), *_one_batch(one, evidence), *_layer(one, evidence))


def _tried(tried: VerifiedChange | None) -> Iterator[Picture]:
    if tried is None:
        return
    sign = 1 if tried.measure.larger_is_better else -1
    before, after = ([sign * value for value in values] for values in (tried.before, tried.after))
    yield before_after_plot("Before and after, one dot a seed", before, after, tried.measure.name)


def _steps(one: DiagnosisFinding, evidence: Evidence) -> Iterator[Picture]:
    if one.suspect.fault not in STEPPING:
        return
    tested = evidence.experiments.learning_rates
    if tested is not None and tested.rates:
        rate = evidence.learning_rate
        marks = [Mark(rate, f"in force: {number(rate)}")] if rate is not None and rate > 0 else []
        drawn = Curve("loss on one batch after another", tested.rates, tested.losses)
        yield line_plot("Learning-rate range test", [drawn], marks=marks, below="learning rate", log_x=True)
        return
    kernels = [
        (layer.name, kernel_rows(evidence, layer).series("update_ratio")) for layer in evidence.weighted
    ]
    yield from series_plot("Size of an update, as a share of the weights", kernels[:6], ())


def _one_batch(one: DiagnosisFinding, evidence: Evidence) -> Iterator[Picture]:
    tested = evidence.experiments.one_batch
    if tested is None or not any("one-batch" in finding.name for finding in one.suspect.witnesses):
        return
    drawn = [Curve("one batch, over and over", range(len(tested.losses)), tested.losses)]
    if tested.zeroed_losses:
        drawn.append(
            Curve("the same with inputs of zero", range(len(tested.zeroed_losses)), tested.zeroed_losses)
        )
    yield line_plot("Can it overfit one batch?", drawn)


def _layer(one: DiagnosisFinding, evidence: Evidence) -> Iterator[Picture]:
    layer = next((view for view in evidence.layers if view.name == one.suspect.layer), None)
    if layer is None or evidence.trace is None:
        return
    marks = marks_at((finding.code, finding.step) for finding in one.suspect.witnesses)
    shares = [
        (
            f"layer {view.name}: {column.removesuffix('_share').replace('_', ' ')}",
            output_rows(evidence, view).series(column),
        )
        for view in _with_activation(layer, evidence)
        for column in SHARES
    ]
    worth = [(name, series) for name, series in shares if visible(series)]
    yield from series_plot(f"Shares in the output of layer {layer.name}", worth[:4], marks, between=SHARE)
    rows = kernel_rows(evidence, layer)
    named = [("gradient norm", rows.series("grad_norm")), ("update / weight", rows.series("update_ratio"))]
    yield from series_plot(
        f"Weights of layer {layer.name}", [(name, one) for name, one in named if visible(one, 0)], marks
    )


def _with_activation(layer: LayerView, evidence: Evidence) -> list[LayerView]:
    """The layer and what bends its output, when that is a layer of its own."""
    at = evidence.layers.index(layer)
    following = evidence.layers[at + 1 : at + 2]
    return [layer, *(view for view in following if view.family == "activation")]
