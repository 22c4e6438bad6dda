"""Makes text from outside safe to show: on a terminal, in a report, on a page, in a prompt.

Every renderer passes what it shows through here: `plain` where several lines may be,
`plain_line` where only one may (file names, titles, verdicts), `plain_json` where no character may
be lost.

Covered: ANSI and OSC sequences (also cut in two by a read, also in their 8-bit form), every other
control character but newline and tab, carriage returns (they become newlines, so nothing is
overwritten), bytes that are not UTF-8 (also those of a file name), bidirectional overrides. Not
covered: text that lies in plain letters.
"""

import codecs
import re
from collections.abc import Iterable

LONGEST_SEQUENCE = 4096
"""A sequence that has not ended after so many characters is not one: it would swallow the rest of
the output.
"""

_INTRODUCER = re.compile("[\x1b\x90\x98\x9b\x9d\x9e\x9f]")
# A string ends where another sequence begins, or a flood of openings would each be scanned to the
# end.
_BODY = "[^\x07\x1b\x90\x98\x9b-\x9f]*"
_SEQUENCE = re.compile(
    # Strings: OSC, DCS, SOS, PM, APC, up to BEL or ST.
    "(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])" + _BODY + "(?:\x07|\x9c|\x1b\\\\)"
    # CSI: parameters, intermediates, final.
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    # Two and three character escapes.
    "|\x1b[ -/]+[0-~]|\x1b[0-Z\\\\`-~]"
)
_UNFINISHED = re.compile(
    "(?:(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])"
    + _BODY
    + "\x1b?|(?:\x1b\\[|\x9b)[0-?]*[ -/]*|\x1b[ -/]*)\\Z"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_BREAKS = re.compile("[\t\n]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile(f"{_CONTROL.pattern}|{_SURROGATE.pattern}")


class PlainText:
    """Cleans a stream piece by piece; what a piece leaves unfinished waits for the next one."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes) -> str:
        """The clean text of `data`, as far as it is finished."""
        return self._clean(self._decoder.decode(data), last=False)

    def finish(self) -> str:
        """The clean text of what was still waiting."""
        return self._clean(
            self._decoder.decode(b"", final=True),
            last=True,
        )

    def _clean(self, text: str, *, last: bool) -> str:
        text = self._held + text
        self._held = ""
        if not last:
            text = self._hold(text)
        if _INTRODUCER.search(text):
            text = _SEQUENCE.sub("", text)
        return _CONTROL.sub(
            "",
            text.replace("\r\n", "\n").replace("\r", "\n"),
        )

    def _hold(self, text: str) -> str:
        """Keep back an unfinished sequence, or a carriage return whose newline may follow."""
        tail = text[-LONGEST_SEQUENCE:]
        cut = _UNFINISHED.search(tail)
        if cut is not None:
            start = len(text) - len(tail) + cut.start()
        elif text.endswith("\r"):
            start = len(text) - 1
        else:
            return text
        self._held = text[start:]
        return text[:start]


def plain_text(data: bytes) -> str:
    """The clean text of bytes that are complete."""
    cleaner = PlainText()
    return cleaner.feed(data) + cleaner.finish()


def plain(text: str) -> str:
    """Text from outside without anything that a terminal would obey or a reader could not see."""
    if _SUSPECT.search(text) is None:
        return text
    return plain_text(_SURROGATE.sub(_visible, text).encode("utf-8"))


def plain_line(text: str) -> str:
    """A name from outside on one line: what `plain` takes out is written as an escape, so that no
    two names look alike and no one takes part of one for a line of ours.
    """
    if _SUSPECT.search(text) is None and _BREAKS.search(text) is None:
        return text
    return _BREAKS.sub(_visible, _SUSPECT.sub(_visible, text))


def in_a_row(things: Iterable[str]) -> str:
    """Different things as a sentence lists them: `a, b and c`."""
    *first, last = dict.fromkeys(things) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def plain_json(document: str) -> str:
    """JSON that a reader reads unchanged, with everything escaped that a terminal would obey."""
    return _SUSPECT.sub(
        lambda one: f"\\u{ord(one[0]):04x}",
        document,
    )


def _visible(one: re.Match[str]) -> str:
    number = ord(one[0])
    if one[0] in "\t\n\r":
        return {
            "\t": "\\t",
            "\n": "\\n",
            "\r": "\\r",
        }[one[0]]
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that is not UTF-8
        number -= 0xDC00
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}"
