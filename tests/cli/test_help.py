"""Help pages: what is used every day first, the rest behind --help-all."""

from __future__ import annotations

import click
import pytest

from reenact.cli.edge import guarded
from reenact.cli.help import RARE, rare_options
from reenact.cli.main import GROUPS, SHORT, VERBS, reenact


def page(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert guarded(reenact, list(words)) == 0
    return capsys.readouterr().out


def command(name: str) -> click.Command:
    found = reenact.get_command(click.Context(reenact), name)
    assert found is not None
    return found


def listed(text: str) -> set[str]:
    return {line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.split()}


def test_trainings_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    text = page(capsys, "--help")
    titles = [line for line in text.splitlines() if line.rstrip(":") in GROUPS]
    assert titles == [f"{title}:" for title in SHORT]
    assert text.index("diagnose") < text.index("doctor")
    assert not {"mutate", "relay", "cache"} & listed(text)
    assert "8 more commands: reenact --help-all" in text


def test_help_all_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(VERBS) <= listed(page(capsys, "--help-all"))


@pytest.mark.parametrize("name", sorted(VERBS))
def test_each_command_is_in_its_file_with_two_pages(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(name).name == name
    whole = page(capsys, name, *(["--help"] if name == "runs" else ["--help-all"]))
    for option in command(name).params:
        if isinstance(option, click.Option) and not option.hidden:
            assert option.opts[-1] in whole


def test_short_help_leaves_out_what_is_rare_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = page(capsys, "diagnose", "--help")
    rare = rare_options(command("diagnose"))
    assert len(rare) > 5
    assert not [option for option in rare if option.opts[0] in text.split()]
    assert f"{len(rare)} more options: reenact diagnose --help-all" in text


def test_where_nothing_is_rare_both_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert rare_options(command("lint")) == ()
    assert page(capsys, "lint", "--help") == page(capsys, "lint", "--help-all")


def test_every_rare_option_exists() -> None:
    names = {name for verb in VERBS for param in command(verb).params for name in param.opts}
    assert RARE - names == set()
