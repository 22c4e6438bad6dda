"""The neutrality graph as a plot: generations from left to right, coloured by what each node is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.repairs.alternatives.graph import NodeKind
from reenact.report.plots import GraphPlot
from reenact.report.svg import COLOURS
from reenact.report.svg_graph import Dot

BLUE, ORANGE, GREEN = COLOURS[:3]
SHADES = {
    NodeKind.ROOT: ORANGE,
    NodeKind.KNOWN: "currentColor",
    NodeKind.BETTER: GREEN,
    NodeKind.AS_GOOD: BLUE,
    NodeKind.NEUTRAL: "#8f8f8f",
}
MEANING = {
    ORANGE: "as it stands",
    "currentColor": "known repair",
    GREEN: "significantly better",
    BLUE: "as good or better",
    "#8f8f8f": "neutral to its parent",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A node as a reader sees it."""

    parent: int
    standing: NodeKind
    words: str


def neutral_plot(nodes: Sequence[Seen]) -> tuple[GraphPlot, str]:
    """The plot, and what there is to be seen in words."""
    dots = [
        Dot(
            node.parent,
            _depth(nodes, at),
            SHADES[node.standing],
            node.words,
            large=node.standing in (NodeKind.ROOT, NodeKind.KNOWN),
        )
        for at, node in enumerate(nodes)
    ]
    used = {dot.colour for dot in dots}
    key = {colour: meaning for colour, meaning in MEANING.items() if colour in used}
    counts = [(meaning, sum(dot.colour == colour for dot in dots)) for colour, meaning in key.items()]
    alt = ", ".join(f"{count} {meaning}" for meaning, count in counts)
    return GraphPlot("Neutrality graph", dots, key, below="changes from the program as it stands"), alt


def _depth(nodes: Sequence[Seen], number: int) -> int:
    steps = 0
    while nodes[number].parent >= 0:
        number, steps = nodes[number].parent, steps + 1
    return steps
