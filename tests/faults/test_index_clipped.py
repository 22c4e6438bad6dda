"""RE062: indices that are cut to the size of a table, beside data that fits and cuts that are meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_evidence import LABELS, findings_in, trace
from reenact.program.graph import Layer, ModelGraph, WeightFacts
from reenact.testing.faults import evidence_of
from reenact.types import Place

MODEL = """
class Net(nn.Module):
    def __init__(self, size):
        self.{table} = nn.Embedding(size, 8)
    def forward(self, i):
        {cut}
        return self.{table}(i)
model = Net({size})
"""


def places(text: str, largest: float, losses: list[float] | None = None) -> list[int]:
    run = trace(losses or [1.0] * 40, data=(replace(LABELS, role="input", maximum=largest),))
    assert isinstance(run.graph, ModelGraph)
    weight = WeightFacts("weight", (20, 8), True, 0.0, 1.0, -2.0, 2.0, "table.weight")
    evidence = evidence_of(text, run=False)
    file = next(iter(evidence.program.files)).path if evidence.program is not None else None
    assert file is not None
    table = Layer(
        "table",
        "Embedding",
        Place(file, 4, 22, 4, 44),
        ((None,),),
        (None, 8),
        None,
        {},
        (weight,),
    )
    evidence = replace(evidence, trace=replace(run, graph=replace(run.graph, layers=(table,))))
    return [one.place.line for one in findings_in("RE062", evidence) if one.place is not None]


@pytest.mark.parametrize(
    ("cut", "largest", "lines"),
    [
        ("i = i.clamp(max=self.size - 1)", 59.0, [6]),
        ("i = torch.minimum(i, self.last)", 59.0, [6]),
        ("i = i % 20", 59.0, [6]),
        ("i = i.clamp(max=self.size - 1)", 19.0, []),
        ("i = i.long()", 59.0, []),
        ("i = (i // 10).clamp(max=self.buckets)", 59.0, []),
    ],
)
def test_rows_of_the_run_that_a_table_has_no_place_for(
    cut: str, largest: float, lines: list[int]
) -> None:
    assert places(MODEL.format(table="item", cut=cut, size="20"), largest) == lines


def test_a_table_as_large_as_there_are_values() -> None:
    cut = "i = i.clamp(max=self.size - 1)"
    assert places(MODEL.format(table="item", cut=cut, size="len(torch.unique(ids))"), 3.0) == [6]
    assert places(MODEL.format(table="item", cut=cut, size="int(ids.max()) + 1"), 3.0) == []


def test_far_places_may_share_a_row_and_hashes_may_collide() -> None:
    cut = "i = (i - i.min()).clamp(max=self.size - 1)"
    assert places(MODEL.format(table="table", cut=cut, size="20"), 59.0) == []
    cut = "i = i.clamp(max=self.size - 1)"
    assert places(MODEL.format(table="position", cut=cut, size="20"), 59.0) == [6]
    fell = [1.0 * 0.9**step for step in range(60)]
    assert places(MODEL.format(table="item", cut="i = i % 20", size="20"), 59.0, fell) == [], (
        "it learns"
    )
