"""Alternatives to a known repair: the graph of changes that are no worse, and those that repair."""

from reenact.repairs.alternatives import NeutralityGraph, Node, NodeKind
from reenact.report.charts import Dot, graph_plot
from reenact.report.document import Document, Facts, Picture, Section
from reenact.report.recorded import Stored
from reenact.report.svg import COLOURS, number
from reenact.types import Table

RESULT = NeutralityGraph
SHOWN = 20
BLUE, ORANGE, GREEN = COLOURS[:3]
GREY = "#8f8f8f"
INK = "currentColor"
SHADES = {
    NodeKind.ROOT: (ORANGE, "unchanged"),
    NodeKind.KNOWN: (INK, "known repair"),
    NodeKind.BETTER: (GREEN, "significantly better"),
    NodeKind.AS_GOOD: (BLUE, "as good or better"),
    NodeKind.NEUTRAL: (GREY, "neutral to its parent"),
}
"""The colour of a node, and what it means."""


def alternatives_document(found: NeutralityGraph, title: str) -> Document:
    """The whole answer."""
    others = found.alternatives
    neutral = sum(node.parent >= 0 for node in found.nodes)
    facts = (
        ("judged by", found.metric),
        ("trained", f"{found.trained} changed programs"),
        ("neutral", f"{neutral} of them"),
        ("ended", found.ended),
    )
    rows = tuple(_alternative(node, found) for node in others[:SHOWN])
    columns = (found.metric, "compared with the known", "changes", "change")
    table = Table(
        f"{len(others)} alternatives, the best {len(rows)}",
        columns,
        rows,
    )
    better = sum(node.status is NodeKind.BETTER for node in others)
    verdict = (
        f"{len(others)} alternative repairs, {better} significantly better than the known one."
    )
    blocks = (
        Section(
            "Graph",
            [Facts("", facts), neutrality_plot(found)],
            "graph",
        ),
        Section("Alternatives", [table], "others"),
    )
    return Document(
        "alternatives",
        f"Neutrality of {title}",
        verdict,
        blocks,
        data=found.to_dict(),
    )


def _alternative(node: Node, found: NeutralityGraph) -> tuple[str, ...]:
    """A row of the table: what it reaches, how it compares, how large the change is, the change."""
    patch = node.patch
    return _value(node, found), node.status.value, str(patch.complexity), str(patch)


def from_run(stored: Stored) -> Document:
    """The same of a recorded run."""
    found = stored.result(NeutralityGraph)
    if any(node.parent >= at for at, node in enumerate(found.nodes)):
        raise ValueError("a node hangs on one that comes after it")
    return alternatives_document(found, stored.run.what)


def neutrality_plot(found: NeutralityGraph) -> Picture:
    """Generations from left to right, coloured by what each node is worth."""
    dots = []
    for at, node in enumerate(found.nodes):
        change = "the known repair" if node.status is NodeKind.KNOWN else node.patch
        colour, large = (
            SHADES[node.status][0],
            node.status in (NodeKind.ROOT, NodeKind.KNOWN),
        )
        dots.append(
            Dot(
                node.parent,
                depth=found.depth(at),
                colour=colour,
                words=f"{_value(node, found)}: {change}",
                large=large,
            )
        )
    return graph_plot("Neutrality graph", dots, dict(SHADES.values()))


def _value(node: Node, found: NeutralityGraph) -> str:
    return number(node.fitness if found.larger_is_better else -node.fitness)
