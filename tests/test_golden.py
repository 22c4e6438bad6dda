"""What reenact answers is what it answered, but for what `tests/golden/README.md` lists."""

from __future__ import annotations

import pytest

import golden


@pytest.mark.release
@pytest.mark.parametrize("group", ["help", "rules", "static", "params", "graph"])
def test_the_answers_are_those_that_were_taken(
    group: str, capsys: pytest.CaptureFixture[str]
) -> None:
    different = golden.compare(group)
    assert different == 0, capsys.readouterr().out


def test_what_is_gone_new_or_other_is_a_difference() -> None:
    old = {"data.lines#": 2, "data.code": "UM005", "data.mean": 0.25}
    new = {"data.lines#": 2, "data.code": "UM006", "data.place": 3}
    assert golden.differences(old, new) == [
        "gone   data.mean = 0.25",
        "new    data.place = 3",
        "other  data.code: 'UM005' -> 'UM006'",
    ]


@pytest.mark.parametrize(("now", "is_other"), [(0.25000000001, False), (0.2501, True)])
def test_rounding_is_no_difference(now: float, is_other: bool) -> None:
    assert bool(golden.differences({"data.mean": 0.25}, {"data.mean": now})) is is_other


def test_one_more_detector_is_no_difference_and_a_changed_one_is() -> None:
    rows = [{"code": "UM005", "confidence": 0.7}, {"code": "UM006", "confidence": 0.8}]
    old = dict(golden._leaves({"data": rows}))
    grown = dict(golden._leaves({"data": [{"code": "AT001", "confidence": 0.6}, *rows]}))
    assert golden.differences(old, golden.without_additions(old, grown)) == []
    changed = grown | {"data[UM006].confidence": 0.9}
    assert golden.differences(old, golden.without_additions(old, changed)) == [
        "other  data[UM006].confidence: 0.8 -> 0.9"
    ]
