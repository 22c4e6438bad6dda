"""The environment of a program in a box: built from nothing, never scrubbed from the caller's.

No variable of this process goes in, so no key, token, proxy or path of the user can. What a program needs
to find its way (PATH, HOME, caches, locale) is set to places inside the box; what the caller adds goes over
it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from reenact.errors import InputError

USER = "box"


def passable(text: str) -> bool:
    """Whether a text can be handed to a program as a word or a variable."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def box_environment(home: str, tmp: str, added: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a box whose home and temporary folder have these paths inside."""
    for name, value in added.items():
        if not name or "=" in name or not passable(name + value):
            raise InputError(
                f"A variable has a name without '=' and holds text without NUL. Received: {name!r}"
            )
    found = {
        "PATH": f"{Path(sys.prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "HOME": home,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/sh",
        "TMPDIR": tmp,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "MPLCONFIGDIR": f"{home}/.cache/matplotlib",
        "MPLBACKEND": "Agg",
        "HF_HOME": f"{home}/.cache/huggingface",
        "TORCH_HOME": f"{home}/.cache/torch",
        "TORCHINDUCTOR_CACHE_DIR": f"{home}/.cache/torchinductor",
        "TRITON_CACHE_DIR": f"{home}/.cache/triton",
        "KERAS_HOME": f"{home}/.cache/keras",
        # The interpreter's own folders are read-only inside, and a forged cache must not be trusted anywhere.
        "PYTHONDONTWRITEBYTECODE": "1",
        # What is printed is watched while it is printed.
        "PYTHONUNBUFFERED": "1",
    }
    return found | dict(added)
