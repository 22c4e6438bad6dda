"""What every test shares: no network model, no user's settings, a canary that may never leak."""

from __future__ import annotations

import os

from hypothesis import settings

CANARY = "sk-canary-5f1d0c2b9e8a47d6b3"

# Set before anything is imported: children inherit them too.
os.environ["REENACT_NO_NETWORK_MODELS"] = "1"
os.environ["KERAS_BACKEND"] = "torch"
os.environ["COLUMNS"] = "120"
os.environ["OPENAI_API_KEY"] = CANARY
os.environ["ANTHROPIC_API_KEY"] = CANARY
for name in [
    name for name in os.environ if name.startswith("REENACT_") and name != "REENACT_NO_NETWORK_MODELS"
]:
    del os.environ[name]

# The same examples on every machine; HYPOTHESIS_PROFILE=hunt draws new ones.
settings.register_profile("fixed", derandomize=True, database=None)
settings.register_profile("hunt", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
