"""The drawing of a neutrality graph."""

from __future__ import annotations

from xml.etree import ElementTree

from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.alternatives import NeutralityGraph, Node, NodeKind
from reenact.report.views.alternatives import neutrality_plot
from reenact.testing.strategy import set_to


def test_every_node_is_a_dot_with_its_words() -> None:
    change = Patch((set_to(Kind.LEARNING_RATE, 0.01),))
    nodes = (
        Node(Patch(()), -1, (0.3,), NodeKind.ROOT),
        Node(change, 0, (0.9,), NodeKind.BETTER),
        Node(change, 0, (0.4,), NodeKind.NEUTRAL),
        Node(change, 2, (0.8,), NodeKind.AS_GOOD),
    )
    picture = neutrality_plot(
        NeutralityGraph(nodes, "test_accuracy", True, 5, "the budget was spent")
    )
    root = ElementTree.fromstring(picture.svg)
    titles = [one.text for one in root.iter("title")]
    assert len(titles) == len(nodes)
    assert any("0.01" in (title or "") for title in titles)
    assert "1 significantly better" in picture.alt
    places = {
        (one.get("cx"), one.get("cy")) for group in root.iter("g") for one in group.iter("circle")
    }
    assert len(places) == len(nodes)
