"""A neutrality analysis: the graph, zoomable, and the alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from pydantic import BaseModel

from reenact.program.patch import Patch
from reenact.repairs.alternatives.graph import NodeKind
from reenact.report.neutral_plot import Seen, neutral_plot
from reenact.report.sheet import Facts
from reenact.report.svg import number
from reenact.types import Table
from reenact.web.page import Chart, Section
from reenact.web.stored import Stored

SHOWN = 20


class Node(BaseModel):
    """One changed program; samples are oriented."""

    patch: object
    parent: int
    samples: list[float]
    standing: NodeKind


class Told(BaseModel):
    """What the story stored."""

    metric: str
    larger_is_better: bool
    trained: int
    ended: str
    nodes: list[Node]
    alternatives: list[Node]

    def value(self, node: Node) -> str:
        return number(fmean(node.samples) * (1 if self.larger_is_better else -1))


def sections(stored: Stored) -> Iterator[Section]:
    """The whole result."""
    told = Told.model_validate(stored.result())
    if any(node.parent >= at for at, node in enumerate(told.nodes)):
        raise ValueError("a node hangs on one that comes after it")
    plot, words = neutral_plot([_seen(node, told) for node in told.nodes])
    facts = {"judged by": told.metric, "trained": f"{told.trained} changed programs", "ended": told.ended}
    yield Section("Graph", [Facts("", tuple(facts.items())), Chart(plot, words)], "graph")
    rows = tuple(
        (told.value(node), node.standing.value, str(Patch.from_json(node.patch)))
        for node in told.alternatives[:SHOWN]
    )
    title = f"{len(told.alternatives)} alternatives, the best {len(rows)}"
    yield Section("Alternatives", [Table(title, (told.metric, "beside the known", "change"), rows)], "others")


def _seen(node: Node, told: Told) -> Seen:
    known = node.standing is NodeKind.KNOWN
    words = "the known repair" if known else str(Patch.from_json(node.patch))
    return Seen(node.parent, node.standing, f"{told.value(node)}: {words}")
