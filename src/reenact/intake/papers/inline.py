"""Marks of Markdown inside a line, taken off; formulas, code and citations are left as they stand."""

from __future__ import annotations

import re

_KEPT = re.compile(
    r"\$\$[^$]+\$\$|(?<!\\)\$(?:[^$\\]|\\.)+\$|`{1,3}[^`]{1,500}`{1,3}|\[[^\[\]]{0,200}@[^\[\]]{0,400}\](?!\()"
)
_LINK = re.compile(r"\[([^\[\]]+)\]\(([^()\s]*)[^()]*\)")
_NOTE = re.compile(r"\[\^[^\]\s]+\]:?")
_STRONG = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)([^*_]+?)(?<=\S)\1(?!\w)")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_ESCAPED = re.compile(r"\\([!#()*+\-.<>\[\]_`{|}~])")
_BRACKETED_MATHS = re.compile(r"\\\((.+?)\\\)")


def bare(text: str) -> str:
    """The text without its marks."""
    text = _BRACKETED_MATHS.sub(lambda found: f"${found[1].strip()}$", text)
    parts: list[str] = []
    at = 0
    for kept in _KEPT.finditer(text):
        parts += [_stripped(text[at : kept.start()]), kept[0].strip("`") if kept[0][0] == "`" else kept[0]]
        at = kept.end()
    return "".join((*parts, _stripped(text[at:]))).strip()


def _stripped(text: str) -> str:
    text = _TAG.sub(" ", _NOTE.sub(" ", _LINK.sub(_link, text)))
    for _ in range(3):
        text = _STRONG.sub(r"\2", text)
    return _ESCAPED.sub(r"\1", text)


def _link(found: re.Match[str]) -> str:
    """An address is kept where it is more than the words of the link."""
    words, address = found[1], found[2]
    return f"{words} ({address})" if address.startswith("http") and address != words else words
