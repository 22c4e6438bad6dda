"""Requirements are names and versions, and made-up names need somebody's word."""

from __future__ import annotations

import pytest

from reenact.errors import InputError
from reenact.sandbox.environments.names import (
    Allowed,
    ProposedBy,
    requirement,
    requirements_in,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("numpy", "numpy"),
        ("Torch==2.13.0+cpu", "torch"),
        ("scikit_learn >=1.2, <2", "scikit-learn"),
        ("ray[tune]>=2", "ray"),
        ("tomli>=2; python_version < '3.11'", "tomli"),
        ("a==1 --hash=sha256:abc --hash=sha256:def", "a"),
    ],
)
def test_plain_requirements_are_read(text: str, name: str) -> None:
    assert requirement(text).name == name


@pytest.mark.parametrize(
    ("text", "offence"),
    [
        ("--index-url https://evil.example/simple", "an option"),
        ("-e .", "an option"),
        ("-r other.txt", "an option"),
        ("--extra-index-url=http://x", "an option"),
        ("git+https://host.example/x/y", "version control"),
        ("x @ git+ssh://git@host.example/y", "version control"),
        ("x @ https://evil.example/x.whl", "an address"),
        ("https://evil.example/x.tar.gz", "an address"),
        ("x @ file:///etc/passwd", "a path"),
        ("file:x", "a path"),
        ("./x", "a path"),
        ("../x.whl", "a path"),
        ("x.whl", "a path"),
        ("/etc/x", "a path"),
        ("~/x", "a path"),
        ("${HOME}", "a variable"),
        ("x==$VERSION", "a variable"),
        ("", "Not a valid requirement"),
        ("a b", "Not a valid requirement"),
        ("a==", "Not a valid requirement"),
        ("a\x1b[31m", "Not a valid requirement"),
        ("a\nb", "Not a valid requirement"),
        ("a" * 2000, "Not a valid requirement"),
        ("a; import os", "Not a valid requirement"),
    ],
)
def test_everything_else_is_refused_by_name(text: str, offence: str) -> None:
    with pytest.raises(InputError, match=offence):
        requirement(text)


def test_a_requirements_file_is_read_line_by_line() -> None:
    text = "# comment\nnumpy>=2  # why\n\nscipy \\\n  >=1\n"
    found = requirements_in(text, ProposedBy.REPOSITORY)
    assert [item.name for item in found] == ["numpy", "scipy"]
    assert {item.proposed_by for item in found} == {ProposedBy.REPOSITORY}
    with pytest.raises(InputError, match="an option"):
        requirements_in("numpy\n--find-links http://x\n", ProposedBy.REPOSITORY)


def test_names_of_the_user_and_of_the_repository_need_no_word() -> None:
    Allowed().check((requirement("anything"), requirement("other", ProposedBy.REPOSITORY)))


def test_made_up_names_are_listed_with_the_flag_that_allows_them() -> None:
    asked = (
        requirement("numpy", ProposedBy.MODEL),
        requirement("Torch_Magic>=1", ProposedBy.MODEL),
        requirement("paper-utils", ProposedBy.DOCUMENT),
    )
    with pytest.raises(InputError) as caught:
        Allowed.usual().check(asked)
    assert "torch-magic (proposed by a model)" in caught.value.sentence
    assert "paper-utils (proposed by a document)" in caught.value.sentence
    assert "numpy" not in caught.value.sentence
    assert "--allow-packages paper-utils,torch-magic" in caught.value.next_step
    Allowed.usual("Torch.Magic", "paper_utils").check(asked)
