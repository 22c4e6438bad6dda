"""The gallery of faults: every picture that is named exists, is small, and is what its script
makes.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import gallery
import pytest
import reference

pytestmark = pytest.mark.release

MOST_BYTES = 300_000
LETTERS = "{http://www.w3.org/2000/svg}text"


def words(svg: str) -> set[str]:
    """What stands in a drawing, numbers aside: those differ from machine to machine."""
    named = (node.text or "" for node in ElementTree.fromstring(svg).iter(LETTERS))
    return {text for text in named if not re.fullmatch(r"[\d.e+-]+|step \d+|logarithmic", text)}


def test_the_page_shows_every_picture_once_and_no_other() -> None:
    page = "\n".join(reference.gallery())
    shown = re.findall(r"!\[[^]]+\]\(\.\./img/faults/([\w-]+)\.svg\)", page)
    assert (
        sorted(shown)
        == sorted(gallery.SHOWN)
        == sorted(path.stem for path in gallery.IMAGES.iterdir())
    )
    assert "scripts/gallery.py" in page
    assert sum(path.stat().st_size for path in gallery.IMAGES.iterdir()) < MOST_BYTES


@pytest.mark.parametrize("name", ["scheduler-stepped-per-batch", "dead-units"])
def test_a_picture_is_what_its_script_makes(name: str) -> None:
    kept = (gallery.IMAGES / f"{name}.svg").read_text("utf-8")
    assert words(gallery.alone(gallery.picture_of(name))) == words(kept)
    assert "background:#fff" in kept
    assert "<script" not in kept
