"""What a watched run looks like on a page: how it ended, its curves, its layers, which of them
look wrong.
"""

import math
from dataclasses import asdict

from reenact.probe.health import layer_health
from reenact.probe.trace import Trace
from reenact.probe.watch import Watched
from reenact.program.graph import Layer, ModelGraph
from reenact.report.document import Block, Document, Facts
from reenact.report.line_plot import sparkline
from reenact.types import JsonValue, Table


def watch_document(watched: Watched, title: str) -> Document:
    """The summary of a watched run."""
    trace = watched.trace
    wrong = list[tuple[str, str, str]]()
    blocks = list[Block]()
    if trace is not None:
        suspicious = [one for one in layer_health(trace) if one.remarks]
        wrong = [
            (
                one.name,
                str(one.place or "-"),
                "; ".join(one.remarks),
            )
            for one in suspicious
        ]
        blocks = [
            _run_facts(trace),
            _curves(trace),
            *layer_blocks(trace.graph),
        ]
    if wrong:
        blocks.append(
            Table(
                "Layers that look wrong",
                ("layer", "made at", "what was seen"),
                tuple(wrong),
            )
        )
    stored = f" Trace: {watched.folder}" if trace else ""
    verdict = f"{watched.outcome.sentence}{stored}"
    return Document(
        "watch",
        title,
        verdict,
        tuple(blocks),
        data=_data(watched, wrong),
    )


def layer_blocks(graph: ModelGraph | None) -> tuple[Block, ...]:
    """The layers in execution order, each with the line that made it."""
    if graph is None:
        return ()
    columns = (
        "layer",
        "type",
        "made at",
        "output",
        "weights",
        "activation",
        "initial weights",
    )
    return (
        Table(
            f"Layers of {graph.model}",
            columns,
            tuple(map(_layer_row, graph.layers)),
        ),
    )


def graph_document(graph: ModelGraph, title: str) -> Document:
    """The model alone."""
    verdict = f"{len(graph.layers)} layers, {graph.parameters:,} weights, task {graph.task.value}."
    blocks = (graph_facts(graph), *layer_blocks(graph))
    return Document("graph", title, verdict, blocks, data=graph_data(graph))


def graph_facts(graph: ModelGraph) -> Facts:
    """Loss, optimiser, task: what the layers are trained for."""
    loss = graph.loss
    optimizer = graph.optimizer
    facts = {
        "framework": graph.framework,
        "task": graph.task.value,
        "loss": "-" if loss is None else f"{loss.name}  {loss.place or ''}",
        "optimizer": "-" if optimizer is None else f"{optimizer.name}  {optimizer.place or ''}",
        "learning rate": "-" if optimizer is None else _number(optimizer.learning_rate),
        "batch size": str(graph.batch_size or "-"),
        "weights": f"{graph.parameters:,} ({graph.trainable_parameters:,} trainable)",
    }
    if graph.unregistered:
        facts["not in the model"] = ", ".join(graph.unregistered)
    return Facts("Training", tuple(facts.items()))


def _run_facts(trace: Trace) -> Facts:
    facts = {}
    if trace.graph:
        facts = dict(graph_facts(trace.graph).facts)
    epochs = f" in {trace.epoch_count} epochs" if trace.epoch_count else ""
    facts["steps"] = f"{trace.step_count:,}{epochs}"
    facts["time"] = f"{trace.seconds:.1f} s, of which the probe took {trace.probe_seconds:.2f} s"
    if trace.missing:
        facts["not seen"] = "; ".join(trace.missing)
    return Facts("Run", tuple(facts.items()))


def _curves(trace: Trace) -> Table:
    curves = {"loss": trace.losses}
    for name in trace.metric_names():
        if name != "loss":
            curves[name] = trace.metric(name)
    by_step = (
        ("gradient norm", trace.steps.series("grad_norm")),
        ("learning rate", trace.steps.series("learning_rate")),
    )
    rows = []
    for name, series in (*curves.items(), *by_step):
        values = [value for value in series.values.tolist() if not math.isnan(value)]
        if values:
            rows.append(
                (
                    name,
                    sparkline(values),
                    _number(values[0]),
                    _number(values[-1]),
                )
            )
    return Table(
        "Curves",
        ("", "", "first", "last"),
        tuple(rows),
    )


def _layer_row(layer: Layer) -> tuple[str, ...]:
    shape = "x".join("?" if size is None else str(size) for size in layer.output_shape or ())
    count = sum(math.prod(weight.shape) for weight in layer.weights)
    first = layer.weights[0] if layer.weights else None
    initial = "-"
    if first:
        initial = f"mean {first.mean:.2g}, std {first.std:.2g}"
    cells = (
        str(layer.place or ""),
        shape,
        f"{count:,}" if count else "",
        layer.activation,
    )
    return layer.name, layer.type, *(cell or "-" for cell in cells), initial


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _data(
    watched: Watched,
    wrong: list[tuple[str, str, str]],
) -> JsonValue:
    trace = watched.trace
    run: dict[str, JsonValue] = {
        "outcome": watched.outcome.kind.value,
        "exit_code": watched.outcome.exit_code,
        "trace": str(watched.folder) if trace else None,
        "seconds": watched.seconds,
    }
    if trace is None:
        return run
    look_wrong: list[JsonValue] = [
        {
            "layer": layer,
            "place": place,
            "seen": seen,
        }
        for layer, place, seen in wrong
    ]
    return {
        **run,
        "steps": trace.step_count,
        "epochs": trace.epoch_count,
        "probe_seconds": trace.probe_seconds,
        "losses": trace.losses.values.tolist()[-1000:],
        "metrics": {
            name: trace.metric(name).values.tolist()[-1000:] for name in trace.metric_names()
        },
        "missing": list(trace.missing),
        "graph": graph_data(trace.graph),
        "look_wrong": look_wrong,
    }


def graph_data(graph: ModelGraph | None) -> JsonValue:
    """The whole graph as JSON; places as `file:line:column`."""
    if graph is None:
        return None
    data = asdict(graph)
    made = [
        *data["layers"],
        data["loss"],
        data["optimizer"],
    ]
    for owner, facts in zip([*graph.layers, graph.loss, graph.optimizer], made, strict=True):
        if owner is not None:
            facts["place"] = str(owner.place) if owner.place else None
    return data
