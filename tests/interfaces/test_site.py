"""The site: built as `make docs` builds it, where a warning is an error."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import fences
import pytest

pytestmark = pytest.mark.release

pytest.importorskip("mkdocs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(folder),
        ],
        cwd=fences.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return folder


def test_every_page_that_somebody_wrote_is_on_it(site: Path) -> None:
    written = [
        page.relative_to(fences.ROOT / "docs") for page in fences.pages() if "docs" in page.parts
    ]
    made = [
        site / page.with_suffix("") if page.stem != "README" else site / page.parent
        for page in written
    ]
    made.remove(site / "start")
    assert made
    assert [str(folder) for folder in made if not (folder / "index.html").is_file()] == []


def test_the_first_page_leads_on_and_guides_stand_in_reading_order(site: Path) -> None:
    text = (site / "index.html").read_text()
    assert "<h1" in text
    assert 'href="tutorials/broken-classifier/"' in text
    order = [
        text.index(f'href="{name}/"') for name in ("diagnose", "repair", "watching", "architecture")
    ]
    assert order == sorted(order)


def test_faults_have_a_gallery_and_code_has_colours(site: Path) -> None:
    text = (site / "reference" / "faults" / "index.html").read_text()
    assert "learning-rate-too-high" in text
    assert 'href="../../faults/learning-rate-too-high/"' in text
    assert '<span class="gi">' in text
    assert ".codehilite" in (site / "code.css").read_text()


def test_marks_for_the_tests_are_not_shown_to_readers(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "ci" / "index.html").read_text())
    assert "reenact lint --output-format concise examples/broken" in text
    assert "console run" not in text


def test_it_fetches_nothing_of_ours_from_elsewhere(site: Path) -> None:
    text = (site / "index.html").read_text()
    assert 'src="img/diagnosis.png"' in text
    assert (site / "img" / "diagnosis.png").is_file()
