from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import PurePosixPath

import pytest

from reenact.report.document import Diagnostic, Document, Facts, Level, Text
from reenact.report.render import FORMATS, render
from reenact.types import Place, Table

HOSTILE = "a|b <script>alert(1)</script> \x1b]0;owned\x07\x1b[31m*bold* `code` ::error::x"


@pytest.fixture
def document() -> Document:
    place = Place(PurePosixPath("train.py"), 48, 8, 48, 12)
    return Document(
        kind="diagnosis",
        title="Diagnosis of train.py",
        verdict="1 finding.",
        blocks=(
            Text("loss 2.3 -> 61.0", "What happened"),
            Facts("Run", (("seeds", "8"), ("hostile", HOSTILE))),
            Table("Layers", ("layer", "zero share"), (("fc1", "0.97"),)),
        ),
        diagnostics=(
            Diagnostic(
                "UM005",
                "learning-rate-high",
                Level.ERROR,
                "update/weight ratio 3.1",
                place,
                "reenact explain UM005",
            ),
            Diagnostic("RE001", "odd", Level.NOTE, f"line one\n{HOSTILE}"),
        ),
        data={"loss": [2.3, float("nan"), float("inf")], "layers": {"fc1": 0.97}},
    )


@pytest.mark.parametrize("chosen", FORMATS)
def test_no_format_lets_a_control_sequence_through(document: Document, chosen: str) -> None:
    text = render(document, chosen)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.endswith("\n")


@pytest.mark.parametrize("chosen", ["full", "concise", "markdown", "html", "github"])
def test_every_format_for_people_ends_in_the_verdict_or_shows_it(
    document: Document, chosen: str
) -> None:
    assert "1 finding" in render(document, chosen)


def test_full_shows_every_block_and_notice(document: Document) -> None:
    text = render(document, "full", width=120)
    for part in (
        "What happened",
        "loss 2.3",
        "seeds",
        "zero share",
        "0.97",
        "train.py:48:9",
        "reenact explain UM005",
    ):
        assert part in text
    assert text.splitlines()[-1] == "1 finding."


def test_full_has_colour_only_when_asked(document: Document) -> None:
    assert "\x1b[" in render(document, "full", color=True)


def test_concise_is_one_line_a_notice(document: Document) -> None:
    lines = render(document, "concise").splitlines()
    assert lines[0] == "train.py:48:9: UM005 update/weight ratio 3.1"
    assert len(lines) == 3


def test_json_has_a_version_and_no_nan(document: Document) -> None:
    reported = json.loads(render(document, "json"), parse_constant=pytest.fail)
    assert reported["schema_version"] == 3
    assert reported["data"]["loss"] == [2.3, None, None]
    assert reported["notices"][0]["place"] == {
        "file": "train.py",
        "line": 48,
        "column": 8,
        "end_line": 48,
        "end_column": 12,
    }


def test_sarif_names_rules_once_and_counts_columns_from_one(document: Document) -> None:
    run = json.loads(render(document, "sarif"))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["UM005", "RE001"]
    first = run["results"][0]
    assert first["ruleId"] == "UM005"
    assert first["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 48,
        "startColumn": 9,
        "endLine": 48,
        "endColumn": 13,
    }
    assert "locations" not in run["results"][1]


def test_github_commands_cannot_be_forged_by_data(document: Document) -> None:
    lines = render(document, "github").splitlines()
    assert lines[0].startswith(
        "::error title=UM005 learning-rate-high,file=train.py,line=48,col=9::"
    )
    assert [line for line in lines if line.startswith("::")] == lines[:2]
    assert "%0A" in lines[1]


def test_html_escapes_and_loads_nothing(document: Document) -> None:
    seen: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append((tag, dict(attrs)))

    Reader().feed(render(document, "html"))
    assert "script" not in {tag for tag, _ in seen}
    assert not any({"src", "href"} & set(attributes) for _, attributes in seen)


def test_markdown_cells_do_not_break_their_table(document: Document) -> None:
    line = next(
        line for line in render(document, "markdown").splitlines() if line.startswith("| hostile")
    )
    assert line.replace("\\|", "").count("|") == 3


def test_the_verdict_is_one_line_however_narrow_the_terminal() -> None:
    document = Document("bench", "title", f"sandbox: {'figures ' * 40}end")
    assert render(document, "full", width=60).splitlines()[-1].endswith("end")
    assert render(document, "full", width=60).splitlines()[-1].startswith("sandbox:")


def test_a_table_breaks_words_only_where_there_is_no_room_and_on_the_right_first() -> None:
    long = "MeanSquaredLogarithmicErrorAndMore"
    rows = (
        (
            "two_inputs.py:17:67",
            "weight-regularizer",
            f"fixed: what comes out of it, {long}",
        ),
    )
    table = Table("Hyperparameters", ("place", "kind", "alternatives"), rows)
    narrow = render(
        Document(kind="knobs", title="t", verdict="v", blocks=(table,)),
        "full",
        width=60,
    )
    assert "two_inputs.py:17:67  weight-regularizer" in narrow
    assert long not in narrow
    assert max(map(len, narrow.splitlines())) <= 60
    wide = render(
        Document(kind="knobs", title="t", verdict="v", blocks=(table,)),
        "full",
        width=100,
    )
    assert long in wide


def test_a_text_behind_a_list_of_notices_is_code_and_not_markup() -> None:
    from markdown_it import MarkdownIt

    notice = Diagnostic("XX001", "a-name", Level.NOTE, "message", next_step="rm `<img src=n>`")
    document = Document("t", "title", "verdict", (Text("<img src=x>"),), (notice,))
    page = MarkdownIt().render(render(document, "markdown"))
    assert "<img" not in page
    assert "<pre><code>&lt;img src=x&gt;" in page


@pytest.mark.parametrize("chosen", ["full", "concise", "markdown", "html", "json"])
def test_what_was_reused_stands_first(document: Document, chosen: str) -> None:
    line = "Reused from run 261115-h7ra (22:31): 12 trainings. --fresh runs everything again."
    text = render(replace(document, reused=line), chosen)
    if chosen == "json":
        assert json.loads(text)["reused"] == line
        assert json.loads(render(document, chosen))["reused"] == ""
        return
    first = text[text.index("<body>") :].removeprefix("<body>") if chosen == "html" else text
    assert "12 trainings" in first.splitlines()[0]
    assert first.splitlines()[0].index("12 trainings") < 120
    assert "12 trainings" not in render(document, chosen)


def test_a_row_of_many_columns_is_a_list_of_its_cells_where_no_column_has_space_for_a_word() -> (
    None
):
    names = tuple(f"column{number}" for number in range(8))
    table = Table("", names, (("finished", "45.6 s", *["repaired"] * 6),))
    document = Document(kind="runs", title="t", verdict="v", blocks=(table,))
    assert "  column0  finished\n  column1  45.6 s\n" in render(document, "full", width=60)
    assert "  column0   column1  column2 " in render(document, "full", width=100)


LONG = (
    "optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.999), weight_decay=0.01, "
    "lr=10.0)"
)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_finding_is_wrapped_once_and_below_itself(width: int) -> None:
    start = LONG.index("10.0")
    why = "Adam is usually given 1e-5 to 1e-2; larger steps diverge, " * 3
    notice = Diagnostic(
        "UM005",
        "learning-rate-high",
        Level.ERROR,
        "lr",
        Place(PurePosixPath("train.py"), 5, 9),
        "reenact explain UM005",
        "confidence 0.95, confirmed",
        source=f"    5 | {LONG}\n      | {' ' * start}^^^^",
        reasons=(
            ("saw", "lr=10"),
            ("why", why),
            ("try", f"- {LONG}\n+ {LONG.replace('10.0', '0.001')}"),
        ),
    )
    lines = render(
        Document("t", "t", "v", diagnostics=(notice, notice)), "full", width=width
    ).splitlines()
    assert max(map(len, lines)) <= width
    source = next(line for line in lines if line.startswith("      5 | "))
    mark = next(line for line in lines if "^" in line)
    assert source[mark.index("^") : mark.rindex("^") + 1] == "10.0"
    first = next(number for number, line in enumerate(lines) if line.startswith("  why      Adam"))
    after = next(number for number, line in enumerate(lines) if line.startswith("  try      - opt"))
    assert all(line.startswith(" " * 11) for line in lines[first + 1 : after])
    assert " ".join(" ".join(lines[first:after]).split()) == f"why {why.strip()}"
    blanks = [number for number, line in enumerate(lines) if not line]
    assert not any(number + 1 in blanks for number in blanks)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("d/a\x1b]0;pwned\x07.py", "d/a\\x1b]0;pwned\\x07.py"),
        ("c\u202ecod.py", "c\\u202ecod.py"),
        ("two\nlines.py", "two\\nlines.py"),
    ],
)
def test_github_keeps_names_apart_that_differ_in_what_is_not_seen(
    document: Document, name: str, shown: str
) -> None:
    first = document.diagnostics[0]
    assert first.place is not None
    renamed = replace(first, place=replace(first.place, file=PurePosixPath(name)))
    line = render(replace(document, diagnostics=(renamed,)), "github").splitlines()[0]
    assert f"file={shown}," in line
