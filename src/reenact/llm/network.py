"""The one switch that forbids models beyond this machine, for tests and for careful people.

`forbid_network()` in code, or REENACT_NO_NETWORK_MODELS=1 in the environment. A server on a loopback
address is this machine, so it stays allowed. Looked at when a model is opened and again before each call.
"""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from reenact.errors import ModelRefused

SWITCH = "REENACT_NO_NETWORK_MODELS"


def forbid_network() -> None:
    """From now on, in this process and its children, no model beyond this machine is asked."""
    os.environ[SWITCH] = "1"


def network_forbidden() -> bool:
    return os.environ.get(SWITCH, "") not in ("", "0")


def check_network(model: str, url: str) -> None:
    """Raise ModelRefused when the switch is on and the address is not on this machine."""
    if network_forbidden() and not is_loopback(url):
        raise ModelRefused(
            f"The model {model} lies beyond this machine, and {SWITCH} forbids that.",
            next_step=f"Unset {SWITCH}, or use a `relay:`, `command:`, `replay:` or local model.",
        )


def is_loopback(url: str) -> bool:
    """Whether the address names this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
