"""Secrets out of text: the one place that knows what a secret looks like.

By value: whatever the environment holds under a name with PASS, PWD, AUTH, TOKEN, KEY, SECRET,
CREDENTIAL, PRIVATE, WEBHOOK or PAT in it, and REENACT_STUDY_URL. By shape, anywhere in a word: keys
of well-known providers, bearer headers, passwords and signatures in addresses, addresses of web
hooks, private key blocks. Everything that writes what others may read passes through here: journal,
artefacts, exports, reports, recordings, relay files, logs of started commands, errors of providers.
The files of a trace are written by the watched process itself, by the same rules (`for_probe`), so
that a killed reenact leaves no raw one. Not covered: values too short to differ from ordinary
words; values that are paths (the socket of an agent, the working folder); a secret that is neither
in the environment nor of a known shape, or one cut into pieces, encoded or translated; what a
program prints to the terminal or writes itself; a copied notebook in its run.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import IO, Any, NamedTuple

HIDDEN = "[redacted]"
SHORTEST = 12
"""Shorter values (`postgres`, `changeme`) would blot out ordinary words, in quoted code too."""
SHORTEST_MIXED = 8
"""Of values with both letters and digits, which ordinary words do not have."""

_WORD = (
    r"(?:API_?KEY|KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|PWD|AUTH"
    r"|CREDENTIALS?|PAT|PRIVATE|WEBHOOK|STUDY_URL)"
)
_SAYS_SECRET = re.compile(
    rf"(?:^|_){_WORD}(?:_|$|\d)",
    re.IGNORECASE,
)
_HINTS_SECRET = re.compile(
    # GIT_AUTHOR_NAME and TOKENIZERS_PARALLELISM are neither.
    r"PASS|PWD|AUTH(?!ORS?(?:_|$))|TOKEN(?!I[ZS])|KEY|SECRET|CREDENTIAL|PRIVATE|WEBHOOK",
    re.IGNORECASE,
)
_FOLDERS = ("PWD", "OLDPWD")
_BLOCK_BEGINS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_BLOCK_ENDS = re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")


class Shape(NamedTuple):
    """What a sort of secret looks like."""

    needles: tuple[str, ...]
    """In lower case. Text without any of them is not searched: that is a hundred times cheaper."""
    pattern: str
    instead: str = HIDDEN


SHAPES = (
    Shape(
        (
            "sk-",
            "aiza",
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "glpat-",
            "hf_",
            "gsk_",
            "xai-",
            "xox",
            "akia",
            "asia",
            "eyj",
            "-----begin ",
        ),
        # After a letter or digit `sk-` is the end of a word: task-, risk-, disk-.
        r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}|sk-(?:proj|ant|or|svcacct)-[A-Za-z0-9_-]{16,}"
        r"|AIza[A-Za-z0-9_-]{30,}"
        r"|(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
        r"|glpat-[A-Za-z0-9_-]{16,}"
        r"|(?<![A-Za-z0-9])(?:hf_|gsk_|xai-)[A-Za-z0-9]{16,}"
        r"|xox[abposr]-[A-Za-z0-9-]{10,}"
        r"|(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"
        r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web token
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    ),
    Shape(
        ("bearer", "basic"),
        r"(?i)\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{12,}",
        rf"\1\2{HIDDEN}",
    ),
    # Who knows the address of a web hook may write to the channel.
    Shape(
        (
            "hooks.slack",
            "discord",
            "webhook.office.com/",
            "office.com/webhook/",
            "hooks.zapier.com/",
            "api.telegram.org/bot",
            "/open-apis/bot/",
            "maker.ifttt.com/",
            "events.pagerduty.com/",
            "/hooks/",
        ),
        r"(?i)(\bhooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
        r"|\bdiscord(?:app)?\.com/api/(?:v\d+/)?webhooks/"
        r"|\bwebhook\.office\.com/webhookb?\d*/|\boutlook\.office\.com/webhook/"
        r"|\bhooks\.zapier\.com/hooks/|\bapi\.telegram\.org/bot"
        r"|\bopen\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v\d+/)?hook/"
        r"|\bmaker\.ifttt\.com/trigger/[^\s/]+/(?:json/)?with/key/|\bevents\.pagerduty\.com/integration/"
        # Mattermost, Rocket.Chat and others on a host of their own: a long word after /hooks/.
        r"|://[^\s/]+/hooks/(?=[^\s\"'<>()]{20}))[^\s\"'<>()]{8,}",
        rf"\1{HIDDEN}",
    ),
    Shape(
        (
            "sig=",
            "signature=",
            "token=",
            "secret=",
            "password=",
            "api_key=",
            "apikey=",
            "&key=",
            "?key=",
        ),
        r"(?i)([?&](?:sig|signature|(?:access_)?token|(?:client_)?secret|password|(?:api_?)?key)=)"
        r"[^\s&\"'<>()]{8,}",
        rf"\1{HIDDEN}",
    ),
    Shape(("://",), r"(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/@:]*:[^\s/@]+@", rf"\1{HIDDEN}@"),
)


def redact(
    text: str,
    environ: Mapping[str, str] | None = None,
) -> str:
    """The text with every secret that can be recognised replaced by `[redacted]`."""
    for value in secret_values(os.environ if environ is None else environ):
        text = text.replace(value, HIDDEN)
    lowered = text.lower()
    for shape in SHAPES:
        if any(needle in lowered for needle in shape.needles):
            text = re.sub(shape.pattern, shape.instead, text)
    return text


def redact_json(value: Any) -> Any:
    """A JSON value with every string in it redacted, so that the result is still JSON."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): redact_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(item) for item in value]
    return value


def redact_bytes(
    data: bytes,
    by: Callable[[str], str] = redact,
) -> bytes:
    """Bytes with the text in them redacted; surrogateescape carries any other byte through and
    back.
    """
    return by(data.decode("utf-8", "surrogateescape")).encode(
        "utf-8",
        "surrogateescape",
    )


def redact_lines(source: IO[bytes], sink: IO[bytes]) -> None:
    """Pass on line by line as they come; a block of a private key becomes one word."""
    within = False
    for line in source:
        text = line.decode("utf-8", "surrogateescape")
        if within:
            within = not _BLOCK_ENDS.search(text)
            continue
        within = bool(_BLOCK_BEGINS.search(text)) and not _BLOCK_ENDS.search(text)
        shown = redact(text) + ("\n" if within else "")
        sink.write(shown.encode("utf-8", "surrogateescape"))
        sink.flush()


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """Values that the environment's names call secret, longest first so that none leaves a tail."""
    pairs = tuple((name, environ[name]) for name in environ if _may_be_secret(name))
    return list(_longest_first(pairs))


def secret_names(environ: Mapping[str, str]) -> list[str]:
    """Names of the variables that hold a secret."""
    known = [(name, value.strip()) for name, value in environ.items() if _may_be_secret(name)]
    return [name for name, value in known if _is_secret(name, value)]


def for_probe(environ: Mapping[str, str]) -> dict[str, object]:
    """The rules as plain data, for the part that is put into watched programs: names, never
    values.
    """
    return {
        "variables": secret_names(environ),
        "name": _HINTS_SECRET.pattern,
        "shortest": SHORTEST,
        "shapes": [list(shape) for shape in SHAPES],
        "hidden": HIDDEN,
    }


@lru_cache(maxsize=1024)
def _may_be_secret(name: str) -> bool:
    return bool(_SAYS_SECRET.search(name) or _HINTS_SECRET.search(name))


@lru_cache(maxsize=8)
def _longest_first(pairs: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    values = {value.strip() for name, value in pairs if _is_secret(name, value.strip())}
    return tuple(
        sorted(
            values,
            key=lambda value: (-len(value), value),
        )
    )


def _is_secret(name: str, value: str) -> bool:
    mixed = any(one.isalpha() for one in value) and any(one.isdigit() for one in value)
    if len(value) < (SHORTEST_MIXED if mixed else SHORTEST):
        return False
    if value.startswith("/") and (name in _FOLDERS or os.path.exists(value)):  # noqa: PTH110 - never raises
        return False
    # A name that only contains such a word (MONKEY, COMPASS) needs a value that no ordinary word
    # is.
    return bool(_SAYS_SECRET.search(name)) or mixed or not value.isalpha()


if __name__ == "__main__":
    # jobs.py starts it between a command and its log.
    redact_lines(sys.stdin.buffer, sys.stdout.buffer)
