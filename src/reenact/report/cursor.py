"""Where a program's cursor is on a terminal, as far as that matters to a line drawn below its
output.

Followed: line feeds, cursor up and down, saved and restored positions, erasing, the alternate
screen. Rows are relative to where the program began. After a jump to an absolute position nothing
is known about the rows below until the program erases them. Not followed: columns, and lines that
wrap. A wrapped line only makes the distance to the lowest row look larger than it is, which leaves
an empty row and harms nothing.
"""

import re

_TOKEN = re.compile(
    rb"\x1b\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    rb"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
    rb"|\x1b[ -/]+[0-~]"
    rb"|\x1b(?P<escape>[0-OQ-WYZ\\`-~])"
    rb"|(?P<feed>[\n\x0b\x0c])"
    rb"|(?P<text>[^\x1b\n\x0b\x0c]+)"
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_LONGEST_SEQUENCE = 4096
"""A sequence that has not ended after so many bytes is text."""
_ALTERNATE_SCREENS = frozenset({b"?47", b"?1047", b"?1049"})


class Cursor:
    """Fed with every byte that reaches the terminal, in order."""

    def __init__(self) -> None:
        self.fresh = True
        """Whether it is at the start of an empty row, with nothing below."""
        self._row = 0
        self._lowest = 0
        self._saved: int | None = None
        self._lost = False
        """After an absolute jump: what the rows below hold is unknown."""
        self._alternate = False
        self._wiped = False
        """Whether the whole screen was erased and nothing was written since."""
        self._held = b""
        """The beginning of a sequence or of a character whose rest has not come yet."""

    @property
    def below(self) -> int:
        """Rows of the program below the cursor's own."""
        return self._lowest - self._row

    @property
    def known(self) -> bool:
        """Whether something may be drawn below: between two whole sequences, on the usual screen,
        while the terminal's one saved position is not in use.
        """
        return not (self._held or self._lost or self._alternate or self._saved is not None)

    def start_afresh(self) -> None:
        """Another process wrote to the terminal and left the cursor at the start of an empty
        row.
        """
        self._lowest = self._row
        self.fresh = True

    def feed(self, data: bytes) -> None:
        """Follow what was written."""
        data = self._held + data
        self._held = _unfinished_end(data)
        if self._held:
            data = data[: -len(self._held)]
        position = 0
        while position < len(data):
            token = _TOKEN.match(data, position)
            if token is None:
                # A lone escape: terminals skip it.
                position += 1
                continue
            position = token.end()
            self._follow(token)

    def _follow(self, token: re.Match[bytes]) -> None:
        wiped = self._wiped
        self._wiped = False
        if token["feed"] is not None:
            self._down(1)
            self.fresh = self.below == 0
        elif token["text"] is not None:
            # A carriage return leaves the row as it is: what was written there is still to be seen.
            if token["text"].strip(b"\r\x00\x07"):
                self.fresh = False
        elif token["final"] is not None:
            self._control(
                token["parameters"],
                token["final"],
                wiped=wiped,
            )
        elif token["escape"] is not None:
            self._escape(token["escape"])

    def _control(
        self,
        parameters: bytes,
        final: bytes,
        *,
        wiped: bool,
    ) -> None:
        count = int(parameters) if parameters.isdigit() else 1
        if final in b"m":
            self._wiped = wiped
        elif final in b"AF":
            self._row -= max(count, 1)
            self.fresh = False
        elif final in b"BE":
            self._down(max(count, 1))
            self.fresh = False
        elif final in b"Hfdr":
            # A scroll region (r) puts the cursor home too.
            self._lost = not wiped
            self.fresh = False
        elif final == b"J":
            self._lost = False
            self._lowest = self._row
            self._wiped = parameters in (b"2", b"3")
        elif final in b"hl" and parameters in _ALTERNATE_SCREENS:
            self._alternate = final == b"h"
        elif final in b"su" and not parameters:
            # The older form of escape 7 and 8.
            self._escape(b"7" if final == b"s" else b"8")
        elif final in b"CDG`LMST@P":
            # Moves within the row, and rows or characters that are put in or taken out.
            self.fresh = False

    def _escape(self, escape: bytes) -> None:
        if escape == b"7":
            self._saved = self._row
        elif escape == b"8":
            self._restore()
        elif escape in b"DE":
            self._down(1)
            self.fresh = False
        elif escape == b"M":
            self._row -= 1
            self.fresh = False
        elif escape == b"c":
            # The terminal was reset: an empty screen.
            self._alternate = self._lost = False
            self._saved = None
            self.start_afresh()

    def _down(self, rows: int) -> None:
        self._row += rows
        self._lowest = max(self._lowest, self._row)

    def _restore(self) -> None:
        self._row = self._row if self._saved is None else self._saved
        self._saved = None
        self.fresh = False


def _unfinished_end(data: bytes) -> bytes:
    """The last bytes, where they are the beginning of a sequence or of a UTF-8 character."""
    tail = data[-_LONGEST_SEQUENCE:]
    begun = _UNFINISHED.search(tail)
    if begun is not None:
        return begun.group()
    for length in range(1, min(3, len(data)) + 1):
        lead = data[-length]
        if lead >= 0xC0:
            if _bytes_of_character(lead) > length:
                return data[-length:]
            return b""
        if lead < 0x80:
            return b""
    return b""


def _bytes_of_character(lead: int) -> int:
    """How long a character of UTF-8 is, by the first of its several bytes."""
    if lead >= 0xF0:
        return 4
    return 3 if lead >= 0xE0 else 2
