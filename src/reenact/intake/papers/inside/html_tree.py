"""HTML on standard input -> tree.json: [tag, attributes, children], text as strings.

What a browser would not show is left out and counted: scripts, styles, comments, hidden elements.
"""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

DEEPEST = 100
MOST_NODES = 400_000
KEPT = (
    "class", "id", "alttext", "encoding", "href", "src", "alt", "colspan", "rowspan", "display", "type",
    "content", "name",
)  # fmt: skip
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
DROPPED = {
    "script",
    "style",
    "noscript",
    "template",
    "nav",
    "button",
    "form",
    "select",
    "iframe",
    "object",
    "svg",
}
CLOSES = {
    "p": {"p"}, "li": {"li", "p"}, "dt": {"dt", "dd", "p"}, "dd": {"dt", "dd", "p"}, "td": {"td", "th", "p"},
    "th": {"td", "th", "p"}, "tr": {"tr", "td", "th", "p"},
}  # fmt: skip
BLOCKS = {
    "div",
    "section",
    "table",
    "ul",
    "ol",
    "figure",
    "pre",
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
}
HOLDS = {"ul", "ol", "table", "section", "article", "div", "figure", "body"}
HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])"
)


class Tree(HTMLParser):
    """Builds the tree; elements deeper than so many levels hang on the one above."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[object] = ["root", {}, []]
        self.open: list[tuple[str, list[object]]] = [("root", self.root)]
        self.skipping: list[str] = []
        self.nodes = 0
        self.unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if self.skipping:
            if tag == self.skipping[-1] and tag not in VOID:
                self.skipping.append(tag)
            return
        maths = tag == "script" and given.get("type", "").startswith("math/tex")
        if not maths and (tag in DROPPED or self._hidden(given)):
            self.unseen += tag not in DROPPED and given.get("aria-hidden") != "true"
            if tag not in VOID:
                self.skipping.append(tag)
            return
        self._close_implied(tag)
        kept = {name: given[name][:4000] for name in KEPT if name in given}
        node: list[object] = [tag, kept, []]
        self._add(node)
        if tag not in VOID:
            if len(self.open) < DEEPEST:
                self.open.append((tag, node))
            else:
                self.open.append((tag, self.open[-1][1]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.skipping:
            if tag == self.skipping[-1]:
                self.skipping.pop()
            return
        for place in range(len(self.open) - 1, max(0, len(self.open) - 40), -1):
            if self.open[place][0] == tag:
                del self.open[place:]
                return

    def handle_data(self, data: str) -> None:
        if not self.skipping:
            self._add(data)

    def _hidden(self, given: dict[str, str]) -> bool:
        style = HIDDEN.search(given.get("style", ""))
        return "hidden" in given or given.get("aria-hidden") == "true" or style is not None

    def _close_implied(self, tag: str) -> None:
        ends = {"p"} if tag in BLOCKS else CLOSES.get(tag, set())
        while len(self.open) > 1 and self.open[-1][0] in ends:
            self.open.pop()
        if ends and tag not in BLOCKS:
            for place in range(len(self.open) - 1, max(0, len(self.open) - 6), -1):
                name = self.open[place][0]
                if name in HOLDS:
                    return
                if name in ends and name != "p":
                    del self.open[place:]
                    return

    def _add(self, child: object) -> None:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            sys.exit("The page has too many elements")
        children = self.open[-1][1][2]
        assert isinstance(children, list)
        children.append(child)


def main() -> None:
    tree = Tree()
    tree.feed(sys.stdin.buffer.read().decode("utf-8", "replace"))
    tree.close()
    Path("tree.json").write_text(json.dumps({"tree": tree.root, "unseen": tree.unseen}), encoding="utf-8")


main()
