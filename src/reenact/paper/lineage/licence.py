"""What a repository says of its use: the licence file's name for itself, or its first words."""

from __future__ import annotations

import os
import re
from pathlib import Path

from reenact.files import read_start

NAMES = re.compile(r"(?:un)?licen[cs]e|copying|copyright", re.IGNORECASE)
MOST_BYTES = 200_000
KNOWN = (
    ("Apache-2.0", re.compile(r"Apache License\s*,?\s*Version 2\.0", re.IGNORECASE)),
    ("AGPL-3.0", re.compile(r"GNU AFFERO GENERAL PUBLIC LICENSE", re.IGNORECASE)),
    ("LGPL", re.compile(r"GNU LESSER GENERAL PUBLIC LICENSE", re.IGNORECASE)),
    ("GPL-3.0", re.compile(r"GNU GENERAL PUBLIC LICENSE\s+Version 3", re.IGNORECASE)),
    ("GPL-2.0", re.compile(r"GNU GENERAL PUBLIC LICENSE\s+Version 2", re.IGNORECASE)),
    ("MPL-2.0", re.compile(r"Mozilla Public License Version 2\.0", re.IGNORECASE)),
    ("CC BY-NC", re.compile(r"Attribution-NonCommercial", re.IGNORECASE)),
    ("CC BY-4.0", re.compile(r"Attribution 4\.0 International", re.IGNORECASE)),
    ("CC0-1.0", re.compile(r"CC0 1\.0 Universal", re.IGNORECASE)),
    (
        "Unlicense",
        re.compile(r"free and unencumbered software released into the public domain", re.IGNORECASE),
    ),
    (
        "BSD-3-Clause",
        re.compile(r"Redistribution and use in source.*Neither the name", re.IGNORECASE | re.DOTALL),
    ),
    ("BSD-2-Clause", re.compile(r"Redistribution and use in source", re.IGNORECASE)),
    ("ISC", re.compile(r"\bISC License\b", re.IGNORECASE)),
    ("MIT", re.compile(r"\bMIT License\b|Permission is hereby granted, free of charge", re.IGNORECASE)),
)


def licence_of(folder: Path) -> str:
    """The licence by its usual name, else the first line of its file; empty without a file."""
    entries = sorted(entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    for name in entries:
        if not NAMES.match(name):
            continue
        text = read_start(folder / name, MOST_BYTES).decode("utf-8", "replace")
        if found := next((short for short, pattern in KNOWN if pattern.search(text)), ""):
            return found
        if first := next((line.strip() for line in text.splitlines() if line.strip()), ""):
            return first[:120]
    return ""
