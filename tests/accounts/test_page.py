"""docs/accounts.md quotes what the programs of the pages that it links to give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reenact.accounts import AccountStatus, BookName
from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")
DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "accounts.md").read_text(encoding="utf-8")
SECTIONS = {
    name.lower(): body for name, body in re.findall(r"^## (\w+)\n(.*?)(?=^## )", PAGE, re.M | re.S)
}


def test_each_book_has_a_section() -> None:
    assert {book.value for book in BookName} <= SECTIONS.keys()


@pytest.mark.release
@pytest.mark.parametrize("book", list(BookName))
def test_what_is_quoted_of_a_book_is_seen(book: BookName) -> None:
    pytest.importorskip("torch")
    section = SECTIONS[book.value]
    (linked,) = re.findall(r"\((faults/[\w-]+\.md)\)", section)
    (quoted,) = re.findall(r"^> (.+)$", section, re.M)
    page = (DOCS / linked).read_text(encoding="utf-8")
    code = re.search(r"## Example\n```python\n(.*?)```", page, re.S)
    assert code is not None
    accounts = evidence_of(code[1], run=True).accounts
    (account,) = (one for one in accounts if one.book is book)
    assert quoted in [entry.sentence for entry in account.of(AccountStatus.IMBALANCE)]
