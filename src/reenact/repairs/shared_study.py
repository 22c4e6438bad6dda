"""A study in a database that several drivers share.

Its address may hold a password. It is shown nowhere but for its kind and its host.
"""

import hashlib
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class SharedStudy:
    """A study in a database."""

    url: str = field(repr=False)
    """A secret."""
    name: str
    owner: str
    """Id of this run, which its trials carry."""

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        host = f" on {parts.hostname}" if parts.hostname else ""
        return f"{self.name} in {parts.scheme.partition('+')[0]}{host}"

    @property
    def seed(self) -> int:
        """For the sampler: drivers that share a study must not propose the same."""
        return int.from_bytes(
            hashlib.sha256(self.owner.encode()).digest()[:4],
            "big",
        )
