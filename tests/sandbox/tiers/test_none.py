from __future__ import annotations

import pytest

from contracts.sandbox import SandboxContract
from reenact.errors import SandboxUnavailable
from reenact.sandbox.tiers.plain import NoSandbox


class TestNoSandbox(SandboxContract):
    @pytest.fixture
    def sandbox(self) -> NoSandbox:
        return NoSandbox(trust=True)


def test_it_is_refused_unless_the_user_trusts_the_code() -> None:
    with pytest.raises(SandboxUnavailable, match="read, change and send away") as refused:
        NoSandbox()
    assert "--trust-code" in refused.value.next_step
