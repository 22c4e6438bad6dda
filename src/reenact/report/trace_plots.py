"""Plots of a trace: curves with the moments of findings, layers against steps, what one finding
rests on.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from reenact.faults.evidence import Evidence
from reenact.faults.facts.measured import first_invalid_loss, kernel_rows, output_rows
from reenact.faults.finding import Finding
from reenact.probe.trace import Columns, Series, Trace
from reenact.program.layer_view import LayerView
from reenact.report.charts import Shade, before_after_plot, heat_plot
from reenact.report.document import Picture
from reenact.report.line_plot import Curve, Mark, line_plot
from reenact.report.svg import number

MOST_MARKS = 8
MOST_METRICS = 3
SHARE = (0.0, 1.0)
LOSSES = ("loss", "val_loss", "test_loss")
VISIBLE = 0.05
"""A share below this everywhere is not worth a picture."""
SHARES = ("dead_unit_share", "saturated_share", "zero_share")
Named = tuple[str, Series]


def curve_plots(evidence: Evidence, marks: Sequence[Mark]) -> Iterator[Picture]:
    """Loss and metrics over the steps, with the moment at which each finding fired."""
    trace = evidence.trace
    if trace is None:
        return
    named = {name: trace.metric(name).known for name in trace.metric_names()}
    logged = [(f"{name} (logged)", one) for name, one in named.items() if name in LOSSES]
    yield from series_plot(
        "Loss",
        [("loss", _losses(trace, evidence)), *logged],
        marks,
    )
    rest = [(name, one) for name, one in named.items() if "loss" not in name and len(one)]
    shares = [
        (name, one) for name, one in rest if (one.values >= 0).all() and (one.values <= 1).all()
    ]
    yield from series_plot("Metrics", shares, marks, between=SHARE)
    for pair in [pair for pair in rest if pair not in shares][:MOST_METRICS]:
        yield from series_plot(pair[0], [pair], marks)


def layer_plots(evidence: Evidence) -> Iterator[Picture]:
    """Gradient size, size of the updates, and units that are dead or saturated, layer by layer."""
    if evidence.trace is None:
        return
    kernels = [(layer, kernel_rows(evidence, layer)) for layer in evidence.weighted]
    outputs = [(layer, output_rows(evidence, layer)) for layer in evidence.layers]
    yield from _map("Gradient of the weights, by layer and step", kernels, "grad_norm", Shade.SIZE)
    yield from _map(
        "Size of an update, as a share of the weights",
        kernels,
        "update_ratio",
        Shade.RATIO,
    )
    yield from _map("Dead units", outputs, "dead_unit_share", Shade.SHARE)
    yield from _map("Saturated outputs", outputs, "saturated_share", Shade.SHARE)


def series_plot(
    title: str,
    named: Sequence[Named],
    marks: Sequence[Mark],
    *,
    between: tuple[float, float] | None = None,
) -> Iterator[Picture]:
    """A plot of these series; none when there is nothing to draw."""
    shown = [(name, series.known) for name, series in named]
    drawn = [
        Curve(
            name,
            one.steps.tolist(),
            one.values.tolist(),
        )
        for name, one in shown
        if len(one)
    ]
    if drawn:
        yield line_plot(title, drawn, marks=marks, between=between)


def marks_at(fired: Iterable[tuple[str, int | None]]) -> list[Mark]:
    """One mark a step, with the codes of all rules that fired there."""
    codes: dict[int, list[str]] = {}
    for code, step in fired:
        if step is not None and code not in codes.setdefault(step, []):
            codes[step].append(code)
    return [Mark(step, " ".join(named)) for step, named in sorted(codes.items())[:MOST_MARKS]]


def visible(one: Series, least: float = VISIBLE) -> bool:
    """Whether a series rises above what is worth a picture."""
    known = one.known.values
    return len(known) > 0 and bool((known > least).any())


def _map(
    title: str,
    layers: Sequence[tuple[LayerView, Columns]],
    column: str,
    shade: Shade,
) -> Iterator[Picture]:
    seen: dict[str, Series] = {}
    for layer, rows in layers:
        says_type = layer.name.lower().startswith(layer.type.lower())
        one = rows.series(column)
        # Infinite and NaN gradients are the news; a column that no one wrote is NaN throughout.
        if len(one) and len(one.known):
            seen[layer.name if says_type else f"{layer.name} {layer.type}"] = one
    if not (any(map(visible, seen.values())) if shade is Shade.SHARE else seen):
        return
    steps = sorted({int(step) for one in seen.values() for step in one.steps})
    pairs = (
        (
            name,
            zip(one.steps.tolist(), one.values.tolist(), strict=True),
        )
        for name, one in seen.items()
    )
    drawn = [
        (
            name,
            list(map(dict(values).get, steps)),
        )
        for name, values in pairs
    ]
    yield heat_plot(title, drawn, steps, shade)


def _losses(trace: Trace, evidence: Evidence) -> Series:
    """Loss by step. A NaN counts from the step at which the loss is known to be invalid."""
    bad = first_invalid_loss(evidence)
    series = trace.losses
    if bad is None:
        return series.known
    keep = (series.values == series.values) | (series.steps >= bad)
    values = series.values.copy()
    values[values != values] = math.inf
    return Series(series.steps[keep], values[keep])


def finding_plots(one: Finding, evidence: Evidence) -> tuple[Picture, ...]:
    """What a finding rests on, and what came of changing it."""
    made: list[Picture] = []
    if (tried := one.tried) is not None:
        sign = 1 if tried.larger_is_better else -1
        before, after = (
            [sign * value for value in values] for values in (tried.before, tried.after)
        )
        made += [before_after_plot("Before and after, one dot a seed", before, after, tried.metric)]
    return (
        *made,
        *_steps(one, evidence),
        *_one_batch(one, evidence),
        *_layer(one, evidence),
    )


def _steps(one: Finding, evidence: Evidence) -> Iterator[Picture]:
    if one.fault is None or not one.fault.traits.in_step_size:
        return
    tested = evidence.experiments.learning_rates
    if tested is not None and tested.rates:
        rate = evidence.learning_rate
        marks = []
        if rate is not None and rate > 0:
            marks = [
                Mark(
                    rate,
                    f"in force: {number(rate)}",
                )
            ]
        drawn = Curve("loss on one batch after another", tested.rates, tested.losses)
        yield line_plot(
            "Learning-rate range test",
            [drawn],
            marks=marks,
            below="learning rate",
            log_x=True,
        )
        return
    ratios = [
        (
            one.name,
            kernel_rows(evidence, one).series("update_ratio"),
        )
        for one in evidence.weighted
    ]
    yield from series_plot("Size of an update, as a share of the weights", ratios[:6], ())


def _one_batch(one: Finding, evidence: Evidence) -> Iterator[Picture]:
    tested = evidence.experiments.one_batch
    if tested is None or not any("one-batch" in finding.name for finding in one.witnesses):
        return
    losses = {
        "one batch, over and over": tested.losses,
        "the same with inputs of zero": tested.zeroed_losses or (),
    }
    drawn = [
        Curve(
            name,
            range(len(values)),
            values,
        )
        for name, values in losses.items()
        if values
    ]
    yield line_plot("Can it overfit one batch?", drawn)


def _layer(one: Finding, evidence: Evidence) -> Iterator[Picture]:
    layer = next(
        (view for view in evidence.layers if view.name == one.layer),
        None,
    )
    if layer is None or evidence.trace is None:
        return
    marks = marks_at((finding.code, finding.step) for finding in one.witnesses)
    # The layer and what activates its output, when that is a layer of its own.
    after = evidence.layers.index(layer) + 1
    bends = [view for view in evidence.layers[after : after + 1] if view.family == "activation"]
    worth = []
    for view, column in product([layer, *bends], SHARES):
        series = output_rows(evidence, view).series(column)
        if visible(series):
            share = column.removesuffix("_share").replace("_", " ")
            worth.append(
                (
                    f"layer {view.name}: {share}",
                    series,
                )
            )
    yield from series_plot(
        f"Shares in the output of layer {layer.name}", worth[:4], marks, between=SHARE
    )
    rows = kernel_rows(evidence, layer)
    named = [
        ("gradient norm", rows.series("grad_norm")),
        ("update / weight", rows.series("update_ratio")),
    ]
    sized = [(name, one) for name, one in named if visible(one, 0)]
    yield from series_plot(f"Weights of layer {layer.name}", sized, marks)
