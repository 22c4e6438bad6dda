"""HTML on standard input -> page.json: a page for pandoc without what no reader sees, and its
losses.

Formulas become their LaTeX, equations of LaTeXML a paragraph each, listings `pre`; headings count
from the first level that is used; footnotes and citations are spans of a known class. The title,
the authors and the entries of the bibliography are listed next to the page.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

DEEPEST = 100
"""Levels of elements; the words of deeper ones stay."""
MOST_NODES = 400_000
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
LEFT_OUT = {"ltx_authors", "ltx_page_footer", "ltx_dates", "ltx_page_navbar"}
FIGURES = {"ltx_figure", "ltx_table", "ltx_float"}
EQUATIONS = {"ltx_equation", "ltx_equationgroup", "ltx_eqn_table", "ltx_eqn_align"}
KEPT = {
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "table",
    "caption",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "td",
    "th",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "figure",
    "figcaption",
    "blockquote",
    "details",
    "center",
    "a",
    "img",
    "sup",
    "sub",
    "code",
    "br",
}
ATTRIBUTES = ("href", "src", "alt", "colspan", "rowspan")
HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:font-size|opacity)\s*:\s*0(?![.\d])"
)
MATHS = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$(.+?)\$\$", re.S)
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BIBLIOGRAPHIES = ".ltx_bibliography, .references, .bibliography, #references, #refs, #bib"
REFERENCES = re.compile(
    r"references|bibliography|literature|(?:works|literature) cited|reference list",
    re.I,
)


class Page:
    """One page while it is read."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.nodes = 0
        self.hidden: set[int] = set()
        self.formulas: list[str] = []
        self.macros: list[str] = []
        self.left_out: set[int] = set()
        """Elements that are handed on besides the page."""
        self.top = 1

    def read(self) -> dict[str, Any]:
        heading = self.tree.css_first(".ltx_title_document") or self.tree.css_first("h1")
        title = self.line(heading) if heading else ""
        if heading and title:
            self.left_out.add(heading.mem_id)
        else:
            title = self.line(self.tree.css_first("title"))
        references = [
            (
                entry.attributes.get("id") or "",
                self.entry(entry),
            )
            for entry in self.entries()
        ]
        kept = (one for one in self.tree.css(",".join(HEADINGS)) if one.mem_id not in self.left_out)
        levels = (int(one.tag[1]) for one in kept if "ltx_title_abstract" not in classes(one))
        self.top = min(levels, default=1)
        self.formulas.clear()
        body = self.tree.css_first("article, main") or self.tree.body
        authors = list(self.authors())
        # Rendering fills `hidden`, `formulas` and `macros`.
        page = self.render(body) if body else ""
        return {
            "title": title,
            "authors": authors,
            "references": references,
            "page": page,
            "unseen": len(self.hidden),
            "formulas": self.formulas,
            "macros": self.macros,
        }

    def line(self, node: Any) -> str:
        """The words of an element on one line."""
        if node:
            return " ".join(self.render(node, bare=True).split())
        return ""

    def authors(self) -> Iterator[str]:
        metas = self.tree.css("meta[name=citation_author], meta[name=author]")
        people = [] if metas else self.tree.css(".ltx_personname")
        lines = (
            re.split(
                r"\s{3,}|\n|,|&",
                self.render(one, bare=True).strip(),
            )
            for one in people
        )
        names = [
            *(one.attributes.get("content") or "" for one in metas),
            *(line[0] for line in lines),
        ]
        for name in names:
            if re.search(r"[^\W_]", name):
                yield " ".join(name.split())

    def entries(self) -> Iterator[Any]:
        """Entries of the bibliography, whether it has an element of its own or only a heading."""
        places = [one for one in self.tree.css(BIBLIOGRAPHIES) if one.tag not in HEADINGS]
        for heading in self.tree.css(",".join(HEADINGS)):
            if REFERENCES.fullmatch(self.line(heading).strip(" .:")):
                self.left_out.add(heading.mem_id)
                after = heading.next
                while after is not None and after.tag not in HEADINGS:
                    places.append(after)
                    after = after.next
        seen: set[int] = set()
        for place in places:
            self.left_out.add(place.mem_id)
            found = []
            if place.tag != "-text":
                found = place.css("li, dd, .csl-entry, .ltx_bibitem")
            for entry in found:
                above = entry.parent
                while above is not None and above.mem_id not in seen:
                    above = above.parent
                if above is None and entry.mem_id not in seen:
                    yield entry
                seen.add(entry.mem_id)

    def entry(self, node: Any) -> str:
        """The words of an entry; the address of a link counts where it is one."""
        text = self.line(node)
        links = [link.attributes.get("href") or "" for link in node.css("a")]
        return " ".join(
            [
                text,
                *(link for link in links if link.startswith("http") and link not in text),
            ]
        )

    def render(self, root: Any, *, bare: bool = False) -> str:
        """An element as HTML with few tags, or as its bare words; without recursion, however
        deep it is.
        """
        out: list[str] = []
        stack: list[Any] = [(root, 0)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                out.append(item)
                continue
            node, depth = item
            self.nodes += 1
            if self.nodes > MOST_NODES:
                sys.exit("The page has too many elements")
            whole = self.whole(node, bare, node is root)
            if whole is not None:
                out.append(whole)
                continue
            opening, closing = ("", "") if bare or depth > DEEPEST else self.tags(node)
            out.append(opening)
            stack.append(closing)
            for child in reversed(list(node.iter(include_text=True))):
                stack.append((child, depth + 1))
        return "".join(out)

    def whole(  # noqa: C901 - one line for each kind
        self,
        node: Any,
        bare: bool,
        is_root: bool,
    ) -> str | None:
        """What stands for an element with all that is in it; none for one that is a frame
        around others.
        """
        if node.tag == "-text":
            return spelt(node.text_content or "", bare)
        named = classes(node)
        kind = node.attributes.get("type") or ""
        if node.tag == "math" or (node.tag == "script" and kind.startswith("math/tex")):
            return self.maths(node, bare)
        if node.tag in DROPPED or node.tag.startswith(("-", "!")) or self.is_hidden(node):
            return ""
        if not is_root and (node.mem_id in self.left_out or named & LEFT_OUT):
            return ""
        if "ltx_ERROR" in named:
            self.macros.append(node.text()[:60])
            return ""
        if "ltx_tag" in named and "ltx_tag_note" not in named and not is_caption(node.parent):
            return ""
        if named & {"ltx_note", "footnote"} and node.tag != "a" and not is_root:
            return "" if bare else self.note(node)
        if bare:
            return " " if node.tag == "br" else None
        if named & EQUATIONS:
            return self.equations(node)
        if (node.tag == "pre" or "ltx_listing" in named) and not is_root:
            return self.listing(node)
        return None

    def is_hidden(self, node: Any) -> bool:
        given = node.attributes
        found = "hidden" in given or HIDDEN.search(given.get("style") or "") is not None
        aside = given.get("aria-hidden") == "true"
        self.hidden |= {node.mem_id} if found and not aside else set()
        return found or aside

    def maths(self, node: Any, bare: bool) -> str:
        latex = tex_of(node)
        if not latex:
            words = " ".join(node.text().split())
            self.formulas.append(words[:60])
            return words if bare else escape(words)
        shown = node.attributes.get("display") == "block"
        return formula(
            latex,
            bare,
            shown or "mode=display" in (node.attributes.get("type") or ""),
        )

    def note(self, node: Any) -> str:
        parts = (node.css_first(".ltx_note_content") or node).iter(include_text=True)
        kept = [
            part for part in parts if part.tag != "sup" and "ltx_note_mark" not in classes(part)
        ]
        words = "".join(self.render(part) for part in kept)
        if words.strip():
            return f'<span class="footnote">{words}</span>'
        return ""

    def equations(self, node: Any) -> str:
        made = []
        for row in node.css("tr") or [node]:
            latex = " ".join(
                filter(
                    None,
                    map(tex_of, row.css("math")),
                )
            )
            tag = row.css_first(".ltx_tag_equation, .ltx_tag_equationgroup")
            number = tag.text().strip(" ()\n") if tag else ""
            if latex:
                made.append(
                    formula(
                        latex + (f"\\tag{{{number}}}" if number else ""),
                        False,
                        True,
                    )
                )
        return "".join(f"<p>{one}</p>" for one in made)

    def listing(self, node: Any) -> str:
        lines = [self.line(line) for line in node.css(".ltx_listingline")]
        inner = node if node.tag == "pre" else node.css_first("pre") or node
        body = "\n".join(lines) if lines else inner.text().strip("\n")
        return f"<pre>{escape(body)}</pre>"

    def tags(self, node: Any) -> tuple[str, str]:
        named = classes(node)
        if node.tag in HEADINGS:
            level = 1
            if "ltx_title_abstract" not in named:
                level = max(1, int(node.tag[1]) - self.top + 1)
            return f"<h{level}>", f"</h{level}>"
        if node.tag == "cite" or named & {"ltx_cite", "citation"}:
            return '<span class="cite">', "</span>"
        if named & FIGURES:
            return "<figure>", "</figure>"
        if is_caption(node) and node.tag != "caption":
            return "<figcaption>", "</figcaption>"
        if "ltx_appendix" in named:
            return '<div class="ltx_appendix">', "</div>"
        tag = "p" if "ltx_p" in named else node.tag
        if tag not in KEPT:
            return "", ""
        given = {
            name: node.attributes.get(name) or ""
            for name in ATTRIBUTES
            if node.attributes.get(name)
        }
        if re.match(r"[a-z]+:", given.get("src", "")):
            del given["src"]
        written = "".join(f' {name}="{escape(value[:4000])}"' for name, value in given.items())
        return f"<{tag}{written}>", "" if tag in ("br", "img") else f"</{tag}>"


def classes(node: Any) -> set[str]:
    return set((node.attributes.get("class") or "").split())


def is_caption(node: Any) -> bool:
    return node is not None and (
        node.tag in ("figcaption", "caption") or "ltx_caption" in classes(node)
    )


def tex_of(node: Any) -> str:
    """The LaTeX that a formula was made from; empty when the page does not keep it."""
    if node.tag == "script":
        return str(node.text()).strip()
    notes = [
        one
        for one in node.css("annotation")
        if "tex" in (one.attributes.get("encoding") or "").lower()
    ]
    latex = node.attributes.get("alttext") or (notes[0].text() if notes else "")
    latex = re.sub(r"%\s*\n", "", latex).strip()
    if "displaystyle" in latex[:16]:
        latex = re.sub(r"\A\{?\\displaystyle\s*(.*?)\}?\Z", r"\1", latex, flags=re.S)
    return latex


def spelt(text: str, bare: bool) -> str:
    """A text with the formulas in it, which a page may leave to a script."""
    out = []
    at = 0
    for found in MATHS.finditer(text):
        latex = found[1] or found[2] or found[3]
        out += [text[at : found.start()] if bare else escape(text[at : found.start()])]
        out += [
            formula(
                latex.strip(),
                bare,
                found[1] is None,
            )
        ]
        at = found.end()
    return "".join(
        [
            *out,
            text[at:] if bare else escape(text[at:]),
        ]
    )


def formula(latex: str, bare: bool, shown: bool) -> str:
    if bare:
        return f"${' '.join(latex.split())}$"
    kind = "math/tex; mode=display" if shown else "math/tex"
    return f'<script type="{kind}">{latex.replace("</", "< /")}</script>'


tree = LexborHTMLParser(
    sys.stdin.buffer.read().decode(
        "utf-8",
        "replace",
    )
)
Path("page.json").write_text(
    json.dumps(Page(tree).read()),
    encoding="utf-8",
)
