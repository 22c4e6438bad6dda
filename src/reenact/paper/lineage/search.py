"""Code of a paper that names none: GitHub is asked for repositories that speak of its title.

Only a repository whose name or description holds the whole title, or the arXiv id, counts. It need not be the
authors' own, and the exemplar says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from reenact.errors import ResultRefused, Unreachable
from reenact.intake.papers.clients.polite import Polite
from reenact.intake.papers.paper import Reference, plain
from reenact.intake.web import Web
from reenact.paper.lineage.links import repository_links
from reenact.sandbox.files.strict_json import read_json
from reenact.types import JsonValue

FOUND_BY_SEARCH = "Its repository was found by searching GitHub for its title; it may not be the authors'."
SHORTEST_TITLE = 12
"""Letters of a title below which a search finds anything."""
MOST = 10


@dataclass(frozen=True)
class CodeSearch:
    """The server. Its address may be a mirror's."""

    web: Web = field(default_factory=lambda: Web(instead="Check the network; code is then not searched for."))
    polite: Polite = field(default_factory=Polite)

    def addresses(self, reference: Reference) -> tuple[str, ...]:
        """Repositories that speak of the paper, the most starred first. Unreachable when GitHub is silent."""
        if len(plain(reference.title)) < SHORTEST_TITLE:
            return ()
        words = quote(f'"{reference.title[:200]}" in:name,description,readme')
        answer = self.polite.get(self.web, f"/search/repositories?q={words}&sort=stars&per_page={MOST}")
        if answer.status != 200:
            raise Unreachable(f"GitHub did not search for its code (status {answer.status}).")
        try:
            told = read_json(answer.body)
        except ResultRefused as error:
            raise Unreachable(f"GitHub's answer cannot be read: {error.sentence}") from error
        items = told.get("items") if isinstance(told, Mapping) else None
        listed = [one for one in items if isinstance(one, Mapping)] if isinstance(items, list) else []
        return tuple(address for one in listed if (address := _fitting(one, reference)))


def _fitting(item: Mapping[str, JsonValue], reference: Reference) -> str:
    """The address of a repository that is about the paper; empty for another."""
    said = f"{item.get('name') or ''} {item.get('description') or ''}"
    about = plain(reference.title) in plain(said) or (reference.arxiv and reference.arxiv in said)
    links = repository_links(str(item.get("html_url") or ""))
    return links[0] if about and links and not item.get("fork") else ""
