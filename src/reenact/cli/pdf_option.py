"""The option of all verbs that read a paper: what reads it when it is a PDF."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from reenact.settings import PDF_READERS

Function = TypeVar("Function", bound=Callable[..., Any])


def pdf_reader_option(function: Function) -> Function:
    """Adds `--pdf-reader`."""
    return click.option(
        "--pdf-reader",
        type=click.Choice(PDF_READERS),
        help="What reads a PDF: the built-in reader, MinerU (install it first), or MinerU where it is.",
    )(function)
