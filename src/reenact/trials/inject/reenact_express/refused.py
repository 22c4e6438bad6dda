"""What is raised when a training is not recognised."""

from __future__ import annotations


class Refused(Exception):
    """The reason, as half a sentence that follows "the real fit ran:"."""
