"""Claims: a number counts only where it stands in its cell or sentence; and what hides them
from a writer.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reenact.intake.papers.paper import Paper, Table
from reenact.intake.papers.read import read_paper
from reenact.llm.scripted import Scripted
from reenact.paper.criterion import Category, Criterion, Level
from reenact.paper.options import Goal
from reenact.paper.review.claims import (
    WITHHELD,
    PaperClaim,
    of_another,
    stated_claims,
    withheld,
    without_results,
)
from reenact.sandbox.choose import choose

BEST = {
    "metric": "accuracy",
    "value": 84.2,
    "unit": "%",
    "higher_is_better": True,
    "method": "Gentle targets",
    "dataset": "Rings",
    "spread": 0.4,
    "place": "2.2:2",
    "quote": "84.2 ± 0.4",
}
KIND = (Level.PARAGRAPH, Category.SETUP)
PLAIN = {**BEST, "value": 78.9, "method": "Plain", "spread": 0.6, "quote": "78.9 ± 0.6"}


def model_of(*claims: dict[str, Any], again: bool = False) -> Scripted:
    answer = {"claims": list(claims)}
    return Scripted({"paper/claims": answer, **({"paper/claims-again": answer} if again else {})})


def test_cells_and_sentences_become_claims_in_the_order_of_the_paper(
    paper: Paper, run: Any
) -> None:
    stated = {
        **BEST,
        "spread": None,
        "place": "[0:2.2]",
        "quote": "Gentle targets reach 84.2% accuracy on Rings",
    }
    found = stated_claims(paper, Goal(), model_of(BEST, PLAIN, stated, BEST), run)
    assert found.dropped == ()
    assert [(one.id, one.place, one.value, one.spread) for one in found.claims] == [
        ("C1", "0:2.2", 84.2, None),
        ("C2", "2.2:2", 84.2, 0.4),
        ("C3", "2.2:2", 78.9, 0.6),
    ]
    assert found.claims[1].unit == "%"


def test_a_wrong_place_is_put_right_where_the_words_are_found(paper: Paper, run: Any) -> None:
    stated = {
        **BEST,
        "place": "1:1.1",
        "quote": "where plain training reaches 78.9%",
        "value": 78.9,
        "spread": None,
    }
    assert stated_claims(paper, Goal(), model_of(stated), run).claims[0].place == "0:2.2"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"value": 85.0}, "the value is not in its quote"),
        ({"quote": "85.0 ± 0.4", "value": 85.0}, "its quote is not in the paper"),
        ({"quote": "842 ± 04", "value": 842.0}, "its quote is not in the paper"),
        (
            {"method": "Plain"},
            "its cell is under 'Gentle targets / Accuracy (%)', not under 'Plain'",
        ),
        ({"place": "7:7", "quote": "84.2 in nobody's table"}, "there is no such place"),
    ],
)
def test_what_does_not_stand_there_is_dropped_with_a_reason(
    paper: Paper, run: Any, change: dict[str, Any], why: str
) -> None:
    model = model_of(PLAIN, {**BEST, **change}, again=True)
    found = stated_claims(paper, Goal(), model, run)
    assert [(one.method, one.value) for one in found.claims] == [("Plain", 78.9)]
    assert why in found.dropped[0]
    assert why in model.calls[1].as_text(), "the model hears of it once"


def test_a_method_that_the_table_calls_otherwise_is_not_judged(paper: Paper, run: Any) -> None:
    assert (
        stated_claims(paper, Goal(), model_of({**BEST, "method": "our method"}), run)
        .claims[0]
        .value
        == 84.2
    )


def test_a_table_may_have_its_methods_in_columns() -> None:
    rows = (
        ("Data", "Plain", "Gentle"),
        ("Rings", "78.9", "84.2"),
        ("Bars", "84.2", "91.0"),
    )
    table = Table("1:1", "", "", rows, 1)
    assert of_another(table, "84.2", "Gentle") == "", "one of the two cells is its"
    assert of_another(table, "78.9", "Gentle") == "Rings / Plain"
    assert of_another(table, "91.0", "Bars") == ""
    assert of_another(table, "91.0", "Plain") == "Bars / Gentle"
    assert of_another(table, "91.0", "") == ""


def test_a_spread_that_is_not_printed_is_none(paper: Paper, run: Any) -> None:
    assert (
        stated_claims(paper, Goal(), model_of({**BEST, "spread": 0.9}), run).claims[0].spread
        is None
    )


def test_no_usable_answer_gives_no_claims_and_says_so(paper: Paper, run: Any) -> None:
    found = stated_claims(paper, Goal(), Scripted({"paper/claims": ["", "{", "[]"]}), run)
    assert found.claims == ()
    assert found.dropped[0].startswith("No claims were read:")


def claim(**change: Any) -> PaperClaim:
    given = {**BEST, "setting": "", **change}
    return PaperClaim(id="C1", **given)


def test_results_are_hidden_and_settings_are_not(paper: Paper) -> None:
    hidden = withheld(paper, [claim(), claim(value=78.9, method="Plain")])
    assert hidden == {"0:2.2", "2.2:2", "2.2:3.1"}
    text = paper.text(hide=hidden)
    assert "84.2" not in text
    assert "78.9" not in text
    assert "5.3" not in text, "the difference would tell one from the other"
    assert "momentum 0.9" in text


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, 100.0])
def test_a_number_that_stands_everywhere_hides_no_sentence(value: float, tmp_path: Path) -> None:
    """Only its own place: the sentence that defines the metric stays readable."""
    file = tmp_path / "paper.md"
    file.write_text(
        f"# On lines\n\n## Method\n\nThe accuracy is {value:g} when every row is right.\n\n"
        f"## Results\n\nOurs ends with an accuracy of {value:g}.\n"
    )
    read = read_paper(str(file), box=choose(trust_code=True))
    (place,) = read.find("Ours ends with")
    hidden = withheld(
        read, [claim(metric="accuracy", value=value, unit="", place=place, quote="x")]
    )

    assert hidden == {place}


@pytest.mark.parametrize(
    ("sentence", "hides"),
    [
        (
            "A run is called better than another when its accuracy is higher by 2 points.",
            False,
        ),
        (
            "We call a batch optimal when its accuracy is 86 and its gap is below 2.",
            False,
        ),
        (r"Let $m := 2$ be the margin above which a row is kept.", False),
        ("The margin denotes what lies above 2.", False),
        ("Ours is better by 2 points.", True),
        ("We call it ours, and its accuracy is 84.25.", True),
    ],
)
def test_a_definition_is_not_withheld(sentence: str, hides: bool, tmp_path: Path) -> None:
    file = tmp_path / "paper.md"
    file.write_text(
        f"# On rows\n\n## Method\n\n{sentence}\n\n## Results\n\nOurs has 86, plain has 84.\n"
    )
    read = read_paper(str(file), box=choose(trust_code=True))
    (place,) = read.find("Ours has 86")
    stated = {"metric": "accuracy", "unit": "", "place": place, "quote": "x"}
    hidden = withheld(read, [claim(value=value, **stated) for value in (86.0, 84.0, 84.25)])

    assert (hidden == {place}) is not hides


def test_criteria_tell_no_results_to_whoever_writes_code(paper: Paper) -> None:
    claims = [claim(), claim(value=78.9, method="Plain")]
    hidden = withheld(paper, claims)
    plain = Criterion("F1", "SGD is used.", "training", "Training uses SGD", ("2.1:1.3",), *KIND, 1)
    among = Criterion(
        "F2", "Both methods use Rings.", "data", "reaches 78.9%", ("0:2.2",), *KIND, 1
    )
    telling = Criterion(
        "F3", "It reaches 84.2%.", "all", "Table 2 compares", ("2.2:1.1",), *KIND, 1
    )
    assert without_results([plain, among, telling], claims, hidden) == (
        plain,
        replace(among, quote=WITHHELD),
    )


def test_a_setting_with_the_value_of_a_claim_stays(paper: Paper) -> None:
    hidden = withheld(paper, [claim(metric="loss", value=0.1, unit="", place="2.2:2", quote="x")])
    assert hidden == {"2.2:2"}, "dropout 0.1 is no loss of 0.1"


def test_a_table_of_settings_that_holds_one_claimed_number_stays(paper: Paper) -> None:
    hidden = withheld(
        paper,
        [claim(metric="speed-up", value=1.0, unit="", place="2.2:1.1", quote="x")],
    )
    assert "2.1:2" not in hidden


def test_what_the_goal_leaves_out_is_withheld_but_not_compared(paper: Paper, run: Any) -> None:
    model = model_of(BEST, {**PLAIN, "asked": False})
    found = stated_claims(paper, Goal(method="Gentle targets"), model, run)
    assert [one.value for one in found.asked] == [84.2]
    assert withheld(paper, found.claims) >= {"2.2:2"}


def test_without_a_goal_nothing_is_left_out(paper: Paper, run: Any) -> None:
    assert all(
        one.asked
        for one in stated_claims(paper, Goal(), model_of({**PLAIN, "asked": False}), run).claims
    )
