"""What a program prints: bounded, cleaned, kept as head and tail, told to a listener as it comes."""

from __future__ import annotations

from reenact.plain import PlainText
from reenact.sandbox.box import Event, OnOutput


class Output:
    """The printed bytes of one box. Holds at most `keep_bytes`, whatever is printed."""

    def __init__(self, keep_bytes: int, output_bytes: int, listener: OnOutput | None = None) -> None:
        self._half = keep_bytes // 2
        self._most = output_bytes
        self._listener = listener
        self._cleaner = PlainText()
        self._head = bytearray()
        self._tail = bytearray()
        self._clean_bytes = 0
        self.printed_bytes = 0
        self.events: list[Event] = []

    @property
    def over(self) -> bool:
        """Whether more was printed than the program may print."""
        return self.printed_bytes > self._most

    def feed(self, data: bytes) -> None:
        """Take what one read gave."""
        self.printed_bytes += len(data)
        self._keep(self._cleaner.feed(data))

    def finish(self) -> None:
        """The program has ended: nothing more comes."""
        self._keep(self._cleaner.finish())

    def _keep(self, text: str) -> None:
        if not text:
            return
        clean = text.encode()
        self._clean_bytes += len(clean)
        self._tell(clean)
        room = self._half - len(self._head)
        self._head += clean[:room]
        self._tail += clean[room:]
        if len(self._tail) > 2 * self._half:
            del self._tail[: len(self._tail) - self._half]

    def _tell(self, clean: bytes) -> None:
        if self._listener is None:
            return
        try:
            self._listener(clean)
        except Exception as error:  # noqa: BLE001 - a listener's fault may not decide how the program ended
            self._listener = None
            self.events.append(Event("listener-failed", f"{type(error).__name__}: {error}"))

    @property
    def dropped_bytes(self) -> int:
        """Clean bytes that are not in `text`."""
        return max(0, self._clean_bytes - len(self._head) - self._half)

    def text(self) -> str:
        """Head and tail, the cut between them marked in words."""
        if not self.dropped_bytes:
            return (self._head + self._tail).decode()
        head = self._head.decode(errors="ignore")
        tail = self._tail[len(self._tail) - self._half :].decode(errors="ignore")
        return f"{head}\n[... {self.dropped_bytes} bytes of output left out here ...]\n{tail}"
