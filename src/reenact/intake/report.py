"""A bug report from a file, standard input or GitHub, as the text it is; nothing in it is obeyed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from reenact.errors import UnreadableReport
from reenact.files import read_start
from reenact.intake.github import Issue, fetch_issue, parse_issue
from reenact.intake.readable import decode, shorten
from reenact.intake.web import Web

MOST_BYTES = 16 * 1024 * 1024
"""So much of a file or of standard input is looked at."""
MOST_BODY = 60_000
"""Characters of a report that are kept: head and tail of a longer one."""
MOST_COMMENT = 10_000
"""Characters of one comment that are kept."""
MOST_COMMENTS = 60_000
"""Characters of all comments together; the first ones are kept."""
LONGEST_TITLE = 200
_TITLE_MARK = re.compile(r"^\s*(?:#{1,6}\s+|\**title\**\s*:\**\s*)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class RawReport:
    """A report as it came: untrusted text, cleaned of what a terminal would obey."""

    title: str
    body: str
    comments: tuple[str, ...]
    source: str
    """Where it came from, for a reader: the file, `standard input`, or owner/name#number."""
    created: datetime | None
    """When it was written, where the source says so."""
    cut: str
    """What was left out, as a sentence; empty when nothing was."""

    def text(self) -> str:
        """Title, body and comments one after the other."""
        return "\n\n".join(part for part in (self.title, self.body, *self.comments) if part)


def read_report(
    ref: str,
    *,
    stdin: BinaryIO | None = None,
    http: Web | None = None,
    environ: Mapping[str, str] | None = None,
) -> RawReport:
    """The report that `ref` names: a file, `-`, an issue's address, or owner/name#number."""
    environ = os.environ if environ is None else environ
    if ref == "-":
        if stdin is None:
            raise UnreadableReport("There is no standard input to read a report from.")
        return _from_bytes(stdin.read(MOST_BYTES + 1), "standard input")
    issue = parse_issue(ref)
    if issue is not None and not Path(ref).is_file():
        web = http or Web(api=environ.get("GITHUB_API_URL") or Web().api)
        return _from_issue(fetch_issue(issue, web, _token(environ)), str(issue))
    if re.match(r"[a-z]+://", ref, re.IGNORECASE):
        raise UnreadableReport(
            f"Only issues of github.com are read by address. Received: {ref}",
            next_step="Save the report as a file and name that.",
        )
    return _from_bytes(_read_file(Path(ref)), ref)


def _token(environ: Mapping[str, str]) -> str:
    """The user's token for GitHub; empty when there is none."""
    token = environ.get("GITHUB_TOKEN", "").strip()
    if token and not re.fullmatch(r"[!-~]+", token):
        raise UnreadableReport(
            "GITHUB_TOKEN holds characters that no token has.", next_step="Set it anew, or unset it."
        )
    return token


def _read_file(path: Path) -> bytes:
    """The first bytes of a file."""
    try:
        return read_start(path, MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableReport(
            f"The report cannot be read: {why}. Received: {path}",
            next_step="Name a file, `-` for standard input, or a GitHub issue as owner/name#number.",
        ) from error


def _from_bytes(data: bytes, source: str) -> RawReport:
    cuts = [f"only the first {MOST_BYTES} bytes were read"] if len(data) > MOST_BYTES else []
    text = decode(data[:MOST_BYTES], source).strip()
    if not _WORD.search(text):
        raise UnreadableReport(
            f"The report is empty. Received: {source}",
            next_step="Say what was done, what was seen and what was expected.",
        )
    title, _, body = text.partition("\n")
    title = _TITLE_MARK.sub("", title).strip()
    if len(title) > LONGEST_TITLE:
        title, body = title[:LONGEST_TITLE], text
    body, cut = shorten(body.strip(), MOST_BODY)
    return RawReport(title, body, (), source, None, _sentence([*cuts, cut]))


def _from_issue(issue: Issue, source: str) -> RawReport:
    if not _WORD.search(issue.title + issue.body):
        raise UnreadableReport(f"The issue {source} says nothing: neither its title nor its text has a word.")
    body, cut = shorten(issue.body, MOST_BODY)
    comments, dropped = _kept(issue.comments)
    return RawReport(
        issue.title[:LONGEST_TITLE],
        body,
        comments,
        source,
        issue.created,
        _sentence([cut, issue.cut, dropped]),
    )


def _kept(comments: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    kept: list[str] = []
    room = MOST_COMMENTS
    for comment in comments:
        short, _ = shorten(comment, MOST_COMMENT)
        room -= len(short)
        if room < 0:
            break
        kept.append(short)
    missing = len(comments) - len(kept)
    if missing:
        return tuple(kept), f"the last {missing} comments that were read are left out"
    shortened = sum(len(comment) > MOST_COMMENT for comment in comments)
    return tuple(kept), f"{shortened} long comments were shortened" if shortened else ""


def _sentence(cuts: list[str]) -> str:
    said = "; ".join(cut for cut in cuts if cut)
    return f"The report was cut: {said}." if said else ""
