"""The reference pages: every verb, option, setting, word and tool that there is, none left out."""

from __future__ import annotations

import json
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import fences
import pytest
import reference
import result_schema

from reenact.cli.edge import guarded
from reenact.cli.main import VERBS, reenact
from reenact.settings import Settings
from reenact.types import ExitCode


@pytest.fixture(scope="module")
def made() -> Any:
    return reference


def test_every_verb_and_option_has_its_line(made: Any) -> None:
    page = "\n".join(made.commands())
    context = click.Context(reenact)
    for name in VERBS:
        verb = reenact.get_command(context, name)
        assert verb is not None
        assert f"## reenact {name}\n" in page
        for option in verb.params:
            if isinstance(option, click.Option):
                assert f"`{option.opts[0]}`" in page
    assert "### reenact runs resume\n" in page


def test_every_setting_has_its_variable(made: Any) -> None:
    page = "\n".join(made.settings())
    for spec in fields(Settings):
        assert f"| `{spec.name}` | `REENACT_{spec.name.upper()}` |" in page


def test_words_are_explained(made: Any) -> None:
    page = "\n".join(made.words())
    for code in ExitCode:
        assert f"| `{int(code)}` | exit code." in page


def test_every_tool_has_its_arguments_and_its_schema(made: Any) -> None:
    page = "\n".join(made.tools())
    for name in ("lint", "repair", "test_hypothesis", "result", "answer"):
        assert f"## {name}\n" in page
    assert "| `wait_s` | `45.0` |" in page
    assert page.count("Schema of the answer") == page.count("\n## ")


def test_the_json_of_verbs_is_shown_as_it_is_printed(made: Any) -> None:
    page = "\n".join(made.document())
    assert '"schema_version": 3' in page
    assert "| `verdict` | The one line to read when only one is read. |" in page
    for pipeline in ("diagnose", "repair", "test-hypothesis", "alternatives", "bug", "paper"):
        assert f"<summary>reenact {pipeline}</summary>" in page


def test_the_schema_of_a_result_is_what_a_command_prints(
    made: Any,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    monkeypatch.chdir(tmp_path)
    program = str(fences.ROOT / "examples" / "broken" / "torch_glyphs.py")
    code = guarded(reenact, ["diagnose", "--depth", "static", "--output-format", "json", program])
    printed = capfd.readouterr()
    assert code == ExitCode.FOUND, printed.err
    whole = json.loads(printed.out)
    assert whole["data"]["findings"]
    schema = json.loads(files("reenact.report").joinpath("result.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(whole, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(whole | {"schema_version": 2}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(whole | {"data": whole["data"] | {"findings": 3}}, schema)


def test_the_schema_in_the_package_is_that_of_the_results() -> None:
    shipped = files("reenact.report").joinpath("result.schema.json").read_text()
    assert shipped == result_schema.text_of(result_schema.whole()), (
        "run `python scripts/result_schema.py`"
    )


def test_the_index_links_only_to_what_is_there(made: Any) -> None:
    page = made.index()
    assert "](docs/" not in page
    assert "](examples/" not in page
    assert "(diagnose.md)" in page


@pytest.mark.parametrize("page", fences.pages(), ids=fences.named)
def test_a_block_is_a_block_on_the_site_too(page: Any, made: Any) -> None:
    markdown = pytest.importorskip("markdown")
    text = made.on_page_markdown(page.read_text())
    html = markdown.markdown(text, extensions=["tables", "fenced_code"])
    assert html.count("<pre>") == len(list(fences.blocks(page)))
    assert "```" not in html
