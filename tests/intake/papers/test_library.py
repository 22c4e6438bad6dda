from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.intake.papers.library import Library
from reenact.intake.papers.paper import Reference


@pytest.fixture
def library(tmp_path: Path) -> Library:
    adam, deep = tmp_path / "adam", tmp_path / "deep"
    (adam / "repository").mkdir(parents=True)
    (adam / "about.toml").write_text(
        'title = "Adam: A Method"\narxiv = "1412.6980"\ndoi = "10.1/Adam"\nurl = "https://example.org/adam/"\n'
    )
    (adam / "paper.pdf").write_bytes(b"%PDF")
    (adam / "paper.md").write_text("# Adam")
    (deep / "source").mkdir(parents=True)
    (deep / "about.toml").write_text('keys = ["he2016"]\n')
    (deep / "repository.bundle").write_bytes(b"")
    (tmp_path / "notes").mkdir()
    return Library(tmp_path)


@pytest.mark.parametrize(
    "reference",
    [
        Reference("x", "", doi="https://doi.org/10.1/ADAM"),
        Reference("x", "", arxiv="arXiv:1412.6980v9"),
        Reference("x", "", url="http://www.example.org/adam"),
        Reference("x", "", title="ADAM — a method"),
    ],
)
def test_found_by_doi_arxiv_address_or_title(library: Library, reference: Reference) -> None:
    found = library.find(reference)
    assert found is not None
    assert found.name == "adam"
    assert found.paper == library.folder / "adam" / "paper.md"
    assert found.repository == library.folder / "adam" / "repository"


def test_found_by_key_only_where_no_title_speaks_against_it(library: Library) -> None:
    found = library.find(Reference("he2016", "", title="Deep residual learning"))
    assert found is not None
    assert (found.name, found.paper) == ("deep", library.folder / "deep" / "source")
    assert found.repository == library.folder / "deep" / "repository.bundle"
    assert library.find(Reference("he2015", "", title="Another work", doi="10.1/other")) is None
    assert library.find(Reference("", "")) is None


@pytest.mark.parametrize("about", ["title = ", "title = 3", 'keys = "a"', 'title = "\\ud800"'])
def test_entries_that_cannot_be_read_are_reported(tmp_path: Path, about: str) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "about.toml").write_text(about)
    with pytest.raises(InputError, match=r"about\.toml"):
        Library(tmp_path).find(Reference("x", "", title="Some title"))


def test_a_library_that_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        Library(tmp_path / "nowhere").entries  # noqa: B018
