"""How model strings are spelt, which key each provider wants, and the switch that forbids the
network.

REENACT_NO_NETWORK_MODELS=1 in the environment forbids it. A server on a loopback address is this
machine, so it stays allowed. The switch is read when a model is opened and again before each call.
"""

import difflib
import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from reenact.errors import MissingKey, ModelRefused, UnknownModel

OLLAMA_URL = "http://localhost:11434/v1"

CHAT = "OpenAI's chat completions"
FORMS: tuple[tuple[str, str], ...] = (
    ("openai:NAME", "a model of OpenAI"),
    ("anthropic:NAME", "a model of Anthropic"),
    ("google:NAME", "a model of Google; `google-cloud:NAME` through Google Cloud"),
    (
        "ollama:NAME",
        f"a model that Ollama serves at OLLAMA_BASE_URL ({OLLAMA_URL} by default)",
    ),
    (
        "openai-compatible:NAME@URL",
        f"any server that speaks {CHAT}, e.g. @http://host:8000/v1",
    ),
    (
        "command:PROGRAM ARGS",
        "a program that reads the prompt on stdin and prints the answer",
    ),
    (
        "relay:FOLDER",
        "a folder where a person or another program answers: `reenact relay FOLDER`",
    ),
    ("replay:FILE", "the answers of a recorded run"),
)


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a prefix leads: names in pydantic-ai, key and package it needs."""

    system: str
    keys: tuple[str, ...] = ()
    """Environment variables, one of which must hold the key."""
    package: str = "openai"


_ALIKE = ("deepseek", "fireworks", "moonshotai", "openrouter", "together")
"""Providers whose key bears their name."""
_GOOGLE = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
PROVIDERS: Mapping[str, Provider] = {
    **{
        name: Provider(name, ("OPENAI_API_KEY",))
        for name in ("openai", "openai-chat", "openai-responses")
    },
    "openai-compatible": Provider("openai-compatible"),
    "anthropic": Provider("anthropic", ("ANTHROPIC_API_KEY",), "anthropic"),
    **dict.fromkeys(("google", "google-gla"), Provider("google", _GOOGLE, "google-genai")),
    **dict.fromkeys(
        ("google-cloud", "google-vertex"), Provider("google-cloud", (), "google-genai")
    ),
    "ollama": Provider("ollama"),
    "azure": Provider("azure", ("AZURE_OPENAI_API_KEY",)),
    **{
        name: Provider(
            name,
            (f"{name.upper()}_API_KEY",),
        )
        for name in _ALIKE
    },
}
COMPATIBLE_KEY = "OPENAI_COMPATIBLE_API_KEY"
"""Key for `openai-compatible:` servers that want one. OPENAI_API_KEY is never sent to them."""
OTHERS = ("command", "relay", "replay")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model string, taken apart."""

    kind: str
    """The word before the first colon."""
    rest: str
    """What follows it, without an address."""
    url: str = ""
    """The address after `@`, where there is one."""

    @property
    def label(self) -> str:
        """The name that recordings and reports use: no address, no folder, no arguments."""
        if self.kind in PROVIDERS:
            return f"{self.kind}:{self.rest}"
        return self.kind


def parse_name(text: str) -> ModelName:
    """Take a model string apart. UnknownModel says what is possible."""
    kind, colon, rest = text.strip().partition(":")
    if kind == "scripted":
        instead = "Use reenact.llm.scripted.Scripted([...])."
        raise UnknownModel("A scripted model is made in code.", next_step=instead)
    if kind not in PROVIDERS and kind not in OTHERS:
        close = difflib.get_close_matches(
            kind.lower(),
            [*PROVIDERS, *OTHERS],
            n=1,
            cutoff=0.6,
        )
        hint = ""
        if close:
            hint = f"Did you mean {_form(close[0])}? "
        forms = ", ".join(form for form, _ in FORMS)
        raise UnknownModel(
            f"There is no model {text!r}.",
            next_step=f"{hint}A model is one of: {forms}.",
        )
    if not colon or not rest.strip() or rest.startswith("@http"):
        raise UnknownModel(
            f"The model {text!r} has no name after {kind}.",
            next_step=f"Write {_form(kind)}.",
        )
    if kind not in PROVIDERS:
        return ModelName(kind, rest.strip())
    name, _, address = rest.partition("@http")
    url = f"http{address}" if address else ""
    served = url.startswith(("http://", "https://")) and urlsplit(url).hostname
    if kind == "openai-compatible" and not served:
        instead = (
            f"Write {_form(kind)}, for example openai-compatible:qwen3@http://localhost:8000/v1."
        )
        raise UnknownModel(
            f"The model {text!r} does not say where its server is.", next_step=instead
        )
    if url and kind not in ("openai-compatible", "ollama"):
        why = f"A model of {kind} takes no address. Received: {text!r}."
        raise UnknownModel(why, next_step="Write openai-compatible:NAME@URL.")
    return ModelName(kind, name.strip(), url)


def require_key(name: ModelName) -> None:
    """Raise MissingKey, naming the variable, when the provider's key is not in the environment."""
    keys = PROVIDERS[name.kind].keys
    if keys and not any(os.environ.get(key, "").strip() for key in keys):
        why = (
            f"The model {name.label} needs {' or '.join(keys)} in the environment, and it is not "
            f"there."
        )
        raise MissingKey(
            why,
            next_step=f"export {keys[0]}=...",
        )


def keys_present() -> dict[str, bool]:
    """Which providers' variables are set; for `doctor`. Names only, never values."""
    names = sorted({key for provider in PROVIDERS.values() for key in provider.keys})
    return {key: bool(os.environ.get(key, "").strip()) for key in names}


def _form(kind: str) -> str:
    for form, _ in FORMS:
        if form.startswith(f"{kind}:"):
            return form
    return f"{kind}:NAME"


SWITCH = "REENACT_NO_NETWORK_MODELS"


def check_network(model: str, url: str) -> None:
    """Raise ModelRefused when the switch is on and the address is not on this machine."""
    if os.environ.get(SWITCH, "") not in ("", "0") and not is_loopback(url):
        why = f"The model {model} lies beyond this machine, and {SWITCH} forbids that."
        instead = f"Unset {SWITCH}, or use a `relay:`, `command:`, `replay:` or local model."
        raise ModelRefused(why, next_step=instead)


def is_loopback(url: str) -> bool:
    """Whether the address names this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
