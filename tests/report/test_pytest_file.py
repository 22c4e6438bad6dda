"""The test that is written of a claim: readable, and no text of the claim becomes code."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.claims.check import Check, Relation
from reenact.claims.claim import Claim
from reenact.claims.verdict import ClaimVerdict
from reenact.program.patch import Patch
from reenact.report.pytest_file import KeptClaim, docstring, literal, name_of, shows
from tests.claims.conftest import CHECK


def kept(
    says: str = "It holds", script: str = CHECK, check: str = "differs", folder: str = ".."
) -> KeptClaim:
    claim = Claim(says, Patch(), script, Check.read(check))
    return KeptClaim(ClaimVerdict(claim, ()), "261119-abcd", ("train.py", "--lr", "0.1"), folder)


def names_of(text: str) -> dict[str, object]:
    """What the file sets at its top level."""
    tree = ast.parse(text)
    return {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) != "FOLDER"
    }


def test_the_script_is_read_as_it_was_written() -> None:
    text = kept().text
    assert f'CHECK = """\\\n{CHECK}"""' in text
    assert 'FOLDER = Path(__file__).parent / ".."' in text
    assert 'PROGRAM = ["train.py", "--lr", "0.1"]' in text
    assert "def test_it_holds() -> None:" in text
    assert 'shows="differs",' in text
    assert "tolerance" not in text
    assert "FOLDER = Path(__file__).parent\n" in kept(folder=".").text


def test_a_tolerance_of_ones_own_is_written() -> None:
    claim = Claim("It holds", Patch(), CHECK, Check.read("same", 0.01))
    text = KeptClaim(ClaimVerdict(claim, ()), "x", ("train.py",), ".", ("/data/rows.csv",)).text
    assert "tolerance=0.01," in text
    assert names_of(text)["DATA"] == ["/data/rows.csv"]
    assert "data=DATA," in text


@pytest.mark.parametrize(
    "script",
    [
        'a = """x"""\n',
        "a = 'x\\n'\n",
        'a = """x\\n"""\n',
        "a = '''x'''\nb = \"\"\"y\"\"\"\n",
        "a = 'ends in quotes\"'\n",
        "a = '\u202ex'\n",
        "a = '\x1b[31m'\n",
    ],
)
def test_any_script_is_in_the_file_as_it_is(script: str) -> None:
    text = kept(script=script).text
    assert names_of(text)["CHECK"] == script
    assert all(one.isprintable() or one in "\n\t" for one in text)


@pytest.mark.parametrize(
    "says",
    ['It holds"""\nimport os', "It \\holds\\", 'ends with "quotes"', "\x1b]0;x\x07 it holds", "!"],
)
def test_no_text_of_a_claim_becomes_code(says: str) -> None:
    tree = ast.parse(kept(says).text)
    kinds = [type(node) for node in tree.body]
    assert kinds[:3] == [ast.Expr, ast.ImportFrom, ast.Import]
    assert kinds[3:] == [ast.Assign, ast.Assign, ast.Assign, ast.FunctionDef]
    assert ast.get_docstring(tree)


@given(st.text())
def test_a_literal_is_the_text(text: str) -> None:
    for written in (literal(text), literal(text, below=True), docstring(text)):
        assert ast.literal_eval(written) == text


@pytest.mark.parametrize(
    ("says", "name"),
    [
        ("The first step has the most to come.", "test_the_first_step_has_the_most_to_come"),
        ("", "test_the_claim"),
        ("x" * 90, f"test_{'x' * 60}"),
    ],
)
def test_the_name_says_what_is_claimed(says: str, name: str) -> None:
    assert name_of(says) == name


@pytest.mark.parametrize(
    "words", ["differs", "same", "above 0.1", "near 0.25", "shape 2,3", "dtype float32", "shape"]
)
def test_a_relation_is_read_again(words: str) -> None:
    check = Check.read(words)
    assert Check.read(shows(check)) == check


def test_a_number_keeps_all_of_its_digits() -> None:
    check = Check(relation=Relation.ABOVE, number=0.1234567891)
    assert Check.read(shows(check)).number == 0.1234567891
