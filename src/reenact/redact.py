"""Secrets out of text: the one place that knows what a secret looks like.

By value: whatever the environment holds under a name that says key, token, secret or password.
By pattern: keys of well-known providers, bearer headers, passwords in addresses, private key blocks.
Not covered: a secret that is neither in the environment nor of a known shape, or one cut into pieces,
encoded or translated. Everything that writes what others may read (recordings, relay files, journal,
reports, errors of providers) passes through here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "[redacted]"
SHORTEST = 12
"""Shorter values (`postgres`, `changeme`) would blot out ordinary words, in quoted code too."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT)(?:_|$|\d)", re.IGNORECASE
)
_PATTERNS = re.compile(
    r"\bsk-[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, OpenRouter, DeepSeek
    r"|\bAIza[A-Za-z0-9_-]{30,}"  # Google
    r"|\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bhf_[A-Za-z0-9]{16,}"
    r"|\bgsk_[A-Za-z0-9]{16,}|\bxai-[A-Za-z0-9]{16,}"
    r"|\bxox[abposr]-[A-Za-z0-9-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
_BEGINNINGS = (
    *(
        "sk-",
        "AIza",
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
    ),
    *("AKIA", "ASIA", "eyJ", "-----BEGIN "),
)
"""Text without any of these cannot match a pattern: looking for a substring is a hundred times cheaper."""
_BEARER = re.compile(r"\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{12,}", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/@:]*:[^\s/@]+@", re.IGNORECASE)


def redact(text: str, environ: Mapping[str, str] | None = None) -> str:
    """The text with every secret that can be recognised replaced by `[redacted]`."""
    for value in secret_values(os.environ if environ is None else environ):
        text = text.replace(value, HIDDEN)
    if any(beginning in text for beginning in _BEGINNINGS):
        text = _PATTERNS.sub(HIDDEN, text)
    lowered = text.lower()
    if "bearer" in lowered or "basic" in lowered:
        text = _BEARER.sub(rf"\1\2{HIDDEN}", text)
    return _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text) if "://" in text and "@" in text else text


def redact_json(value: Any) -> Any:
    """A JSON value with every string in it redacted, so that the result is still JSON."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): redact_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(item) for item in value]
    return value


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """Values that the environment's names call secret, longest first so that none leaves a tail."""
    found = {
        value.strip()
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value.strip()) >= SHORTEST
    }
    return sorted(found, key=lambda value: (-len(value), value))
