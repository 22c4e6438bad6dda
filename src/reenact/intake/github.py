"""An issue of GitHub with its comments; every refusal of the server is a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from reenact.errors import ReenactError, ResultRefused, Unreachable, UnreadableReport
from reenact.intake.web import Answer, Web
from reenact.plain import plain
from reenact.sandbox.files.strict_json import read_json
from reenact.types import JsonValue

PER_PAGE = 100
MOST_PAGES = 3
_OWNER_NAME = r"(?P<owner>[A-Za-z0-9][A-Za-z0-9-]*)/(?P<name>[A-Za-z0-9._-]+)"
_SHORT = re.compile(_OWNER_NAME + r"#(?P<number>\d{1,9})")
_ADDRESS = re.compile(
    r"https?://(?:www\.)?github\.com/" + _OWNER_NAME + r"/(?:issues|pull)/(?P<number>\d{1,9})(?:[/?#].*)?"
)


@dataclass(frozen=True, slots=True)
class IssueName:
    """Which issue of which repository."""

    owner: str
    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}#{self.number}"

    @property
    def path(self) -> str:
        return f"/repos/{self.owner}/{self.name}/issues/{self.number}"


@dataclass(frozen=True, slots=True)
class Issue:
    """What its author wrote and what others said to it; comments of bots are left out."""

    title: str
    body: str
    comments: tuple[str, ...]
    created: datetime | None
    cut: str
    """Which comments were not asked for; empty when all were."""


def parse_issue(ref: str) -> IssueName | None:
    """The issue that an address or owner/name#number names; none for anything else."""
    found = _ADDRESS.fullmatch(ref) or _SHORT.fullmatch(ref)
    return IssueName(found["owner"], found["name"], int(found["number"])) if found else None


def fetch_issue(wanted: IssueName, web: Web, token: str) -> Issue:
    """Ask for the issue, then for its comments, page by page."""
    issue = _table(_ask(wanted, wanted.path, web, token), wanted)
    comments: list[str] = []
    seen = 0
    for page in range(1, MOST_PAGES + 1):
        path = f"{wanted.path}/comments?per_page={PER_PAGE}&page={page}"
        told = _ask(wanted, path, web, token) if issue.get("comments") else []
        if not isinstance(told, list):
            raise _nonsense(wanted, "the comments are no list")
        entries = [_table(entry, wanted) for entry in told]
        seen += len(entries)
        comments += [text for entry in entries if not _by_bot(entry) and (text := _text(entry, "body"))]
        if len(entries) < PER_PAGE:
            break
    total = issue.get("comments")
    cut = f"{total - seen} of {total} comments left out" if isinstance(total, int) and total > seen else ""
    return Issue(_text(issue, "title"), _text(issue, "body"), tuple(comments), _moment(issue), cut)


def _ask(wanted: IssueName, path: str, web: Web, token: str) -> JsonValue:
    answer = web.get(path, token)
    if answer.status != 200:
        raise _refusal(wanted, answer, token)
    try:
        return read_json(answer.body)
    except ResultRefused as error:
        raise _nonsense(wanted, error.sentence) from error


def _refusal(wanted: IssueName, answer: Answer, token: str) -> ReenactError:
    limited = answer.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in answer.headers
    if answer.status == 429 or (answer.status == 403 and limited):
        return _limit(wanted, answer.headers, token)
    if answer.status == 404:
        return UnreadableReport(
            f"GitHub knows no issue {wanted}, or shows it only to those who may see the repository.",
            next_step="Check the name and number; set GITHUB_TOKEN for a private repository.",
        )
    if answer.status == 410:
        return UnreadableReport(f"The issue {wanted} was deleted, or its repository has no issues.")
    if answer.status == 401:
        return UnreadableReport(
            "GitHub refused the token in GITHUB_TOKEN (401).", next_step="Renew GITHUB_TOKEN or unset it."
        )
    if answer.status >= 500:
        return Unreachable(
            f"GitHub could not answer for {wanted} (status {answer.status}).",
            next_step="Run the same command again in a while.",
        )
    return UnreadableReport(f"GitHub refused to show {wanted} (status {answer.status}){_said(answer)}.")


def _limit(wanted: IssueName, headers: Mapping[str, str], token: str) -> Unreachable:
    reset, after = headers.get("x-ratelimit-reset", ""), headers.get("retry-after", "")
    when = "in a while"
    if re.fullmatch(r"\d{1,6}", after):
        when = f"in {after} s"
    elif re.fullmatch(r"\d{9,11}", reset):
        when = f"after {datetime.fromtimestamp(int(reset), UTC):%Y-%m-%d %H:%M} UTC"
    hint = "" if token else ", or set GITHUB_TOKEN for a higher limit"
    return Unreachable(
        f"GitHub answers no more questions from here for now (rate limit), so {wanted} was not read.",
        next_step=f"Run the same command again {when}{hint}.",
    )


def _said(answer: Answer) -> str:
    try:
        told = read_json(answer.body)
    except ResultRefused:
        return ""
    message = told.get("message") if isinstance(told, Mapping) else None
    return f": {plain(message)[:200]}" if isinstance(message, str) else ""


def _nonsense(wanted: IssueName, why: str) -> Unreachable:
    return Unreachable(f"GitHub's answer for {wanted} cannot be read: {why}")


def _table(value: JsonValue, wanted: IssueName) -> Mapping[str, JsonValue]:
    if not isinstance(value, Mapping):
        raise _nonsense(wanted, "it is no object")
    return value


def _text(entry: Mapping[str, JsonValue], key: str) -> str:
    value = entry.get(key)
    return plain(value).strip() if isinstance(value, str) else ""


def _by_bot(entry: Mapping[str, JsonValue]) -> bool:
    user = entry.get("user")
    return isinstance(user, Mapping) and user.get("type") == "Bot"


def _moment(issue: Mapping[str, JsonValue]) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(issue, "created_at"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
