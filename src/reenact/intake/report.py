"""A bug report from a file, standard input or GitHub, as the text it is; nothing in it is obeyed.

Bytes that claim to be text are decoded, cleaned and cut to a length that is stated; others are
refused. An issue of GitHub comes with its comments, and every refusal of the server is a sentence.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from reenact.errors import ReenactError, ResultRefused, Unreachable, UnreadableReport
from reenact.files import read_start
from reenact.intake.papers.source import decoded, is_text
from reenact.intake.web import Answer, Web
from reenact.llm.prompts import capped
from reenact.plain import plain
from reenact.sandbox.files.results import read_json
from reenact.types import JsonValue

MOST_BYTES = 16 * 1024 * 1024
"""So much of a file or of standard input is looked at."""
MOST_BODY = 60_000
"""Characters of a report that are kept: head and tail of a longer one."""
MOST_COMMENT = 10_000
"""Characters of one comment that are kept."""
MOST_COMMENTS = 60_000
"""Characters of all comments together; the first ones are kept."""
LONGEST_TITLE = 200
PER_PAGE = 100
MOST_PAGES = 3
_TITLE_MARK = re.compile(r"^\s*(?:#{1,6}\s+|\**title\**\s*:\**\s*)", re.IGNORECASE)
_PICTURE = re.compile(
    r"!\[[^\]\n]*\]\([^)\n]+\)|<img\b|\buser-images\.\S+\.(?:png|jpe?g|gif)\b(?![)\"'])",
    re.I,
)
_WORD = re.compile(r"[^\W_]")
_REPO = r"(?P<owner>[A-Za-z0-9][A-Za-z0-9-]*)/(?P<name>[A-Za-z0-9._-]+)"
_SHORT = re.compile(_REPO + r"#(?P<number>\d{1,9})")
_SITE = r"https?://(?:www\.)?github\.com/"
_ADDRESS = re.compile(_SITE + _REPO + r"/(?:issues|pull)/(?P<number>\d{1,9})(?:[/?#].*)?")


@dataclass(frozen=True, slots=True)
class RawReport:
    """A report as it came: untrusted text, cleaned of what a terminal would obey."""

    title: str
    body: str
    comments: tuple[str, ...]
    source: str
    """Where it came from, for a reader: the file, `standard input`, or owner/name#number."""
    created: datetime | None
    """When it was written, where the source has that."""
    cut: str
    """What was left out, as a sentence; empty when nothing was."""

    def text(self) -> str:
        """Title, body and comments one after the other."""
        return "\n\n".join(part for part in (self.title, self.body, *self.comments) if part)

    @property
    def pictures(self) -> str:
        """How many pictures it has that no one looked at, as a sentence; empty without any."""
        count = len(_PICTURE.findall(self.text()))
        which = "a picture, which was" if count == 1 else f"{count} pictures, which were"
        if count:
            return f"The report has {which} not read."
        return ""


def read_report(
    ref: str,
    stdin: BinaryIO | None = None,
    http: Web | None = None,
    environ: Mapping[str, str] = os.environ,
) -> RawReport:
    """The report that `ref` names: a file, `-`, an issue's address, or owner/name#number."""
    if ref == "-":
        if stdin is None:
            raise UnreadableReport("There is no standard input to read a report from.")
        return _from_bytes(stdin.read(MOST_BYTES + 1), "standard input")
    issue = parse_issue(ref)
    if issue and not Path(ref).is_file():
        token = environ.get("GITHUB_TOKEN", "").strip()
        if token and not re.fullmatch(r"[!-~]+", token):
            why = "GITHUB_TOKEN holds characters that no token has."
            raise UnreadableReport(why, next_step="Set it again, or unset it.")
        return _Issue(
            issue, http or Web(api=environ.get("GITHUB_API_URL") or Web().api), token
        ).report()
    if re.match(r"[a-z]+://", ref, re.IGNORECASE):
        why = f"Only issues of github.com are read by address. Received: {ref}"
        raise UnreadableReport(why, next_step="Save the report as a file and name that.")
    try:
        data = read_start(Path(ref), MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        why = f"The report cannot be read: {why}. Received: {Path(ref)}"
        instead = "Name a file, `-` for standard input, or a GitHub issue as owner/name#number."
        raise UnreadableReport(why, next_step=instead) from error
    return _from_bytes(data, ref)


def _from_bytes(data: bytes, source: str) -> RawReport:
    cuts = []
    if len(data) > MOST_BYTES:
        cuts = [f"only the first {MOST_BYTES} bytes were read"]
    text = decoded(data[:MOST_BYTES])
    if not is_text(text):
        instead = "Give the report as plain text or Markdown."
        raise UnreadableReport(f"The report is not text. Received: {source}", next_step=instead)
    text = plain(text).strip()
    if not _WORD.search(text):
        instead = "Write what was done, what was seen and what was expected."
        raise UnreadableReport(f"The report is empty. Received: {source}", next_step=instead)
    title, _, body = text.partition("\n")
    title = _TITLE_MARK.sub("", title).strip()
    if len(title) > LONGEST_TITLE:
        title = title[:LONGEST_TITLE]
        body = text
    body, cut = _shortened(body.strip())
    return RawReport(
        title,
        body=body,
        comments=(),
        source=source,
        created=None,
        cut=_sentence([*cuts, cut]),
    )


def _shortened(text: str) -> tuple[str, str]:
    """Head and tail of a long text with the cut marked, and the cut as a clause; all of a short
    one.
    """
    left_out = len(text) - MOST_BODY
    cut = ""
    if left_out > 0:
        cut = f"{left_out} of {len(text)} characters left out in the middle"
    return capped(text, MOST_BODY), cut


def _sentence(cuts: list[str]) -> str:
    clauses = "; ".join(cut for cut in cuts if cut)
    return f"The report was cut: {clauses}." if clauses else ""


def parse_issue(ref: str) -> str:
    """The issue that an address or owner/name#number names, as the latter; empty for anything
    else.
    """
    found = _ADDRESS.fullmatch(ref) or _SHORT.fullmatch(ref)
    if found:
        return f"{found['owner']}/{found['name']}#{int(found['number'])}"
    return ""


@dataclass(frozen=True, slots=True)
class _Issue:
    """One issue of GitHub while it is read."""

    name: str
    """As owner/name#number."""
    web: Web
    token: str

    @property
    def _path(self) -> str:
        return f"/repos/{self.name.replace('#', '/issues/')}"

    def report(self) -> RawReport:
        """The issue, then its comments, page by page; comments of bots are left out."""
        issue = self._table(self._ask(self._path))
        title = _text(issue, "title")
        body = _text(issue, "body")
        if not _WORD.search(title + body):
            why = "neither its title nor its text has a word"
            raise UnreadableReport(f"The issue {self.name} is empty: {why}.")
        comments, missing = self._comments(issue.get("comments"))
        body, cut = _shortened(body)
        kept, dropped = _kept(comments)
        cuts = _sentence([cut, missing, dropped])
        return RawReport(
            title[:LONGEST_TITLE],
            body=body,
            comments=kept,
            source=self.name,
            created=_moment(issue),
            cut=cuts,
        )

    def _comments(self, total: JsonValue) -> tuple[list[str], str]:
        """What people commented, and which comments were not asked for."""
        entries: list[Mapping[str, JsonValue]] = []
        for page in range(1, MOST_PAGES + 1):
            answer = (
                self._ask(f"{self._path}/comments?per_page={PER_PAGE}&page={page}") if total else []
            )
            if not isinstance(answer, list):
                raise self._unusable("the comments are not a list")
            entries += [self._table(entry) for entry in answer]
            if len(answer) < PER_PAGE:
                break
        users = [entry.get("user") for entry in entries]
        bots = [isinstance(user, Mapping) and user.get("type") == "Bot" for user in users]
        texts = [_text(entry, "body") for entry, bot in zip(entries, bots, strict=True) if not bot]
        left = total - len(entries) if isinstance(total, int) else 0
        return [
            text for text in texts if text
        ], f"{left} of {total} comments left out" if left > 0 else ""

    def _ask(self, path: str) -> JsonValue:
        answer = self.web.get(path, self.token)
        if answer.status != 200:
            raise self._refusal(answer)
        try:
            return read_json(answer.body)
        except ResultRefused as error:
            raise self._unusable(error.sentence) from error

    def _refusal(self, answer: Answer) -> ReenactError:
        limited = (
            answer.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in answer.headers
        )
        if answer.status == 429 or (answer.status == 403 and limited):
            return self._limit(answer.headers)
        if answer.status >= 500:
            why = f"GitHub could not answer for {self.name} (status {answer.status})."
            return Unreachable(why, next_step="Run the same command again in a while.")
        hidden = (
            f"GitHub knows no issue {self.name}, or shows it only to those who may see the "
            f"repository."
        )
        other = f"GitHub refused to show {self.name} (status {answer.status}){_reason(answer)}."
        sentence, next_step = {
            404: (
                hidden,
                "Check the name and number; set GITHUB_TOKEN for a private repository.",
            ),
            410: (
                f"The issue {self.name} was deleted, or its repository has no issues.",
                "",
            ),
            401: (
                "GitHub refused the token in GITHUB_TOKEN (401).",
                "Renew GITHUB_TOKEN or unset it.",
            ),
        }.get(answer.status, (other, ""))
        return UnreadableReport(sentence, next_step=next_step)

    def _limit(self, headers: Mapping[str, str]) -> Unreachable:
        reset = headers.get("x-ratelimit-reset", "")
        after = headers.get("retry-after", "")
        when = "in a while"
        if re.fullmatch(r"\d{1,6}", after):
            when = f"in {after} s"
        if when == "in a while" and re.fullmatch(r"\d{9,11}", reset):
            when = f"after {datetime.fromtimestamp(int(reset), UTC):%Y-%m-%d %H:%M} UTC"
        hint = "" if self.token else ", or set GITHUB_TOKEN for a higher limit"
        why = (
            f"GitHub answers no more questions from here for now (rate limit), so {self.name} was "
            f"not read."
        )
        return Unreachable(
            why,
            next_step=f"Run the same command again {when}{hint}.",
        )

    def _unusable(self, why: str) -> Unreachable:
        return Unreachable(f"GitHub's answer for {self.name} cannot be read: {why}")

    def _table(self, value: JsonValue) -> Mapping[str, JsonValue]:
        if not isinstance(value, Mapping):
            raise self._unusable("it is not an object")
        return value


def _kept(comments: list[str]) -> tuple[tuple[str, ...], str]:
    """The first comments, each shortened, and what was left out of them."""
    short = [capped(comment, MOST_COMMENT) for comment in comments]
    sizes = accumulate(map(len, short))
    kept = tuple(one for one, size in zip(short, sizes, strict=True) if size <= MOST_COMMENTS)
    if missing := len(comments) - len(kept):
        return kept, f"the last {missing} comments that were read are left out"
    shortened = sum(len(comment) > MOST_COMMENT for comment in comments)
    return kept, f"{shortened} long comments were shortened" if shortened else ""


def _reason(answer: Answer) -> str:
    """Why GitHub refused, in its own words."""
    found: JsonValue = None
    with suppress(ResultRefused):
        found = read_json(answer.body)
    message = None
    if isinstance(found, Mapping):
        message = found.get("message")
    if isinstance(message, str):
        return f": {plain(message)[:200]}"
    return ""


def _text(entry: Mapping[str, JsonValue], key: str) -> str:
    value = entry.get(key)
    if isinstance(value, str):
        return plain(value).strip()
    return ""


def _moment(issue: Mapping[str, JsonValue]) -> datetime | None:
    with suppress(ValueError):
        moment = datetime.fromisoformat(_text(issue, "created_at"))
        if moment.tzinfo:
            return moment
        return moment.replace(tzinfo=UTC)
    return None
