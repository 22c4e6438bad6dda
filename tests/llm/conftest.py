"""A server on this machine that speaks OpenAI's chat completions, as badly as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from reenact.llm.live import open_model
from reenact.llm.patience import ManualClock, Patience

Behaviour = Callable[[BaseHTTPRequestHandler], None]


class ChatServer:
    """Answers each request with the next behaviour; the last one is repeated."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()
        self._behaviours: list[Behaviour] = []
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self.model = f"openai-compatible:tiny@{self.url}"

    def script(self, *behaviours: Behaviour) -> None:
        self._behaviours = list(behaviours)

    def close(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()

    # Behaviours.

    def says(self, text: str | None, finish: str = "stop", **message: Any) -> Behaviour:
        """A completion with that text."""
        made = {"role": "assistant", "content": text, **message}
        return self.body({"choices": [{"index": 0, "finish_reason": finish, "message": made}]})

    def calls(self, *tools: tuple[str, str, str]) -> Behaviour:
        """A completion that calls tools: (id, name, arguments)."""
        made = [
            {
                "id": id_,
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for id_, name, arguments in tools
        ]
        return self.says(None, "tool_calls", tool_calls=made)

    def body(self, answer: dict[str, Any]) -> Behaviour:
        """A completion with that body."""
        counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        frame = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny",
            "usage": counted,
        }
        return self.raw(json.dumps({**frame, **answer}).encode())

    def raw(self, data: bytes, kind: str = "application/json") -> Behaviour:
        """These bytes, with status 200."""
        return lambda handler: _send(handler, 200, {"Content-Type": kind}, data)

    def status(self, status: int, headers: dict[str, str] | None = None, **error: Any) -> Behaviour:
        """An error of that status, with a body as OpenAI writes it."""
        data = json.dumps({"error": {"message": "no", "type": "t", "code": None, **error}}).encode()
        return lambda handler: _send(
            handler,
            status,
            {"Content-Type": "application/json", **(headers or {})},
            data,
        )

    def reset(self) -> Behaviour:
        """Begins an answer and cuts the connection."""

        def behave(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"id": "x"')
            handler.wfile.flush()
            handler.connection.shutdown(2)

        return behave

    def stall(self) -> Behaviour:
        """Says nothing until the test is over."""
        return lambda handler: self.released.wait(60) and None

    def drip(self) -> Behaviour:
        """One byte at a time, never done."""

        def behave(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "100000")
            handler.end_headers()
            while not self.released.wait(0.02):
                try:
                    handler.wfile.write(b" ")
                    handler.wfile.flush()
                except OSError:
                    return

        return behave

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with server._lock:
                    server.requests.append(json.loads(body))
                    server.headers.append(
                        {name.lower(): value for name, value in self.headers.items()}
                    )
                    behave = (
                        server._behaviours[0]
                        if len(server._behaviours) == 1
                        else server._behaviours.pop(0)
                    )
                self.close_connection = True
                behave(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Quiet."""

        return Handler


def _send(handler: BaseHTTPRequestHandler, code: int, headers: dict[str, str], data: bytes) -> None:
    handler.send_response(code)
    for name, value in {
        **headers,
        "Content-Length": str(len(data)),
        "Connection": "close",
    }.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    running = ChatServer()
    yield running
    running.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def opened(server: ChatServer, clock: ManualClock) -> Callable[..., Any]:
    """Opens the server's model, on a clock that takes no time."""

    def opener(**options: Any) -> Any:
        return open_model(server.model, clock=clock, **{"patience": Patience(), **options})

    return opener


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The local model is asked only by those who say `-m llm`."""
    if "llm" in str(config.getoption("markexpr")):
        return
    for item in items:
        if item.get_closest_marker("llm"):
            item.add_marker(pytest.mark.skip(reason="asks a local model: make test-llm"))
