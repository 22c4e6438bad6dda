"""Every numeric option of every command refuses what is no usable number, with exit code 2 and
a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from reenact.cli.edge import guarded
from reenact.cli.main import reenact
from reenact.cli.options import Amount, Checked, Count, Money

OURS = (Amount, Checked, Count, Money)
NO_NUMBERS = ("nan", "inf", "-inf", "-1", "1e400", "99999999999999999999", "abc", "")
ACCEPTED = {
    ("evaluate", "--value"): {
        "-1",
        "99999999999999999999",
    },  # a metric of the reference: any finite number
    ("diagnose", "--budget"): {""},  # the depth's own budget
}


def commands(
    group: click.Group, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


def options() -> Iterator[tuple[tuple[str, ...], str, click.ParamType]]:
    for words, command in commands(reenact):
        for param in command.params:
            if isinstance(param, click.Option) and not param.is_flag:
                yield words, max(param.opts, key=len), param.type


NUMERIC = [(words, flag) for words, flag, kind in options() if isinstance(kind, OURS)]


def test_no_option_takes_a_number_as_it_comes() -> None:
    bare = (
        click.types.IntParamType,
        click.types.FloatParamType,
        click.types.FuncParamType,
    )
    assert not [
        (words, flag)
        for words, flag, kind in options()
        if isinstance(kind, bare) and not isinstance(kind, OURS)
    ]
    assert len(NUMERIC) > 60


@pytest.mark.parametrize(
    ("words", "flag"),
    NUMERIC,
    ids=lambda part: part if isinstance(part, str) else "-".join(part),
)
def test_what_is_no_usable_number_is_refused(
    words: tuple[str, ...], flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in NO_NUMBERS:
        if value in ACCEPTED.get((" ".join(words), flag), ()):
            continue
        assert guarded(reenact, [*words, flag, value]) == 2, value
        shown = " ".join(capsys.readouterr().err.split())
        assert f"Invalid value for '{flag}'" in shown
        assert "Received: " in shown
        assert repr(value) in shown
        assert "defect of reenact" not in shown


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        ("watch", "--max-time"),
        ("watch", "--stop-after"),
        ("diagnose", "--max-time"),
        ("diagnose", "--budget"),
        ("mutate", "--most"),
        ("mutate", "--seeds"),
        ("diagnose", "--max-tokens"),
        ("diagnose", "--max-calls"),
        ("repair", "--budget"),
        ("alternatives", "--budget"),
        ("runs list", "--limit"),
    ],
)
def test_zero_is_refused_where_it_makes_no_sense(
    words: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(reenact, [*words.split(), flag, "0"]) == 2
    assert f"Invalid value for '{flag}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "budget",
    ["nans", "infm", "-1h", "1e400t", "0.5t", "9999999999t", "nanx", "x", "t", "0s"],
)
def test_every_grammar_of_a_budget_is_checked(
    budget: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in ("diagnose", "repair", "alternatives"):
        assert guarded(reenact, [verb, "--budget", budget, "train.py"]) == 2
        assert "A budget is" in " ".join(capsys.readouterr().err.split())


def test_good_numbers_are_taken_as_they_are() -> None:
    from decimal import Decimal

    from reenact.cli.options import CONFIDENCE, MONEY, REPAIR_BUDGET, SECONDS, WORKERS

    assert MONEY.convert("2.50", None, None) == Decimal("2.50")
    assert SECONDS.convert("0.5", None, None) == 0.5
    assert CONFIDENCE.convert("1", None, None) == 1
    assert WORKERS.convert("0", None, None) == 0
    assert [
        REPAIR_BUDGET.convert(text, None, None) for text in ("20", "20x", "90s", "5m", "1h", "40t")
    ]


def test_view_of_a_folder_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(reenact, ["view", "--runs", str(tmp_path / "nowhere")]) == 2
    assert "no folder of runs" in capsys.readouterr().err
