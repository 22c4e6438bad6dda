"""Who may look, and from where: one browser of this machine.

Covered: other programs' pages (one-time token, then a cookie that scripts cannot read and other
sites cannot send), names that are made to point at this machine (the Host header), forms of other
sites (a word in every form, and the Origin header), scripts of others (the content policy names
this server alone), pages in frames. Not covered: other processes of the same user on this machine,
which can read the journal anyway.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reenact.errors import InputError
from reenact.web.render import render

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
)
POLICY += (
    " blob:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors"
)
POLICY += " 'none'"
"""Styles may stand in the page: drawings and the plotting library set sizes and colours that
way.
"""
SAME = ("referrer-policy", "cross-origin-opener-policy", "cross-origin-resource-policy")
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
HEADERS |= dict.fromkeys(SAME, "same-origin")
ENTER = "/enter"
LONGEST_FORM = 64 * 1024
DIGITS = 15
"""Of a number that may come from outside; SQLite holds it, and nothing here is counted further."""


@dataclass
class Key:
    """What opens this server, made at every start."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Stands in the printed address; opens once."""
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """The value of the cookie."""
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Stands in every form."""
    used: bool = False

    def opens(self, token: str) -> bool:
        """Whether this token lets a browser in; it does so once."""
        fits = not self.used and hmac.compare_digest(
            token.encode(),
            self.token.encode(),
        )
        self.used = self.used or fits
        return fits


class Guard:
    """Is before the application."""

    def __init__(self, app: ASGIApp, key: Key, port: int) -> None:
        self._app = app
        self._key = key
        self._hosts = {
            f"127.0.0.1:{port}",
            f"localhost:{port}",
        }
        self._origins = {f"http://{host}" for host in self._hosts}
        # Cookies do not tell ports apart: two servers would put each other out.
        self._cookie = f"reenact-{port}"

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await (self._refused(Request(scope)) or self._app)(
            scope,
            receive,
            _with_headers(send),
        )

    def _refused(self, request: Request) -> Response | None:
        if request.headers.get("host", "") not in self._hosts:
            return _shut(400, "Wrong address", "Open the address that reenact view printed.")
        given = request.cookies.get(self._cookie, "")
        is_known = hmac.compare_digest(
            given.encode(),
            self._key.session.encode(),
        )
        sentence = (
            "Open the whole address that reenact view printed, with its token. It opens once."
        )
        if request.url.path == ENTER:
            if is_known or self._key.opens(request.query_params.get("token", "")):
                answer = RedirectResponse("/", status_code=303)
                answer.set_cookie(
                    self._cookie,
                    self._key.session,
                    httponly=True,
                    samesite="strict",
                    path="/",
                )
                return answer
            sentence = (
                "This address has been used, or is not whole. Start reenact view again for a new "
                "one."
            )
        if not is_known:
            return _shut(403, "This page is private", sentence)
        origin = request.headers.get("origin")
        if request.method not in ("GET", "HEAD") and origin and origin not in self._origins:
            return _shut(403, "Refused", "This form came from another site.")
        return None


async def posted(request: Request, key: Key) -> Mapping[str, str]:
    """The fields of a form that this server made; InputError for any other."""
    fields: dict[str, str] = {}
    length = request.headers.get("content-length", "")
    if length.isdecimal() and len(length) < DIGITS and int(length) <= LONGEST_FORM:
        body = (await request.body())[:LONGEST_FORM]
        fields = {
            name: values[-1] for name, values in parse_qs(body.decode("utf-8", "replace")).items()
        }
    if not hmac.compare_digest(
        fields.get("csrf", "").encode(),
        key.csrf.encode(),
    ):
        says = "This form is from an earlier start of the page."
        raise InputError(says, next_step="Load it again, then send.")
    return fields


def _shut(status: int, title: str, sentence: str) -> Response:
    return HTMLResponse(
        render("shut.html", title=title, sentence=sentence),
        status_code=status,
    )


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in {
                **HEADERS,
                "cache-control": "no-store",
            }.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
