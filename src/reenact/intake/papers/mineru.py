"""PDF -> Draft by MinerU, where its command `mineru` is installed: formulas as LaTeX, tables as cells.

MinerU is a program of its own under a licence of its own (AGPL): it is only ever called, in the sandbox, with
limits on time and memory, without a network. It sees the PDF, its own installation and its weights; of its
settings only the folders of the weights go in, since the file may hold keys. A PDF with letters that no
reader sees is read from its pixels, so that they cannot get in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.errors import MissingPart, ResultRefused, UnreadablePaper
from reenact.intake.papers.boxed import DEEPEST, result_json, run_script
from reenact.intake.papers.mineru_home import SETTINGS, installed
from reenact.intake.papers.mineru_pieces import draft_of
from reenact.intake.papers.pdf_lines import Page
from reenact.intake.papers.pieces import Draft
from reenact.sandbox.box import MIB, Limits, Sandbox
from reenact.sandbox.files.strict_json import read_json

LIMITS = Limits(
    wall_s=1800.0,
    memory_bytes=16 * 1024 * MIB,
    disk_bytes=4096 * MIB,
    files=20_000,
    result_bytes=64 * MIB,
    processes=1024,
)
MOST_PICTURES = 40
INSTALL = "pip install 'mineru[core]' into an environment of its own, then run mineru-models-download"
_PICTURE = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")


def read_by_mineru(
    data: bytes, name: str, pages: list[Page], unseen: int, *, box: Sandbox, limits: Limits = LIMITS
) -> Draft:
    """The paper as MinerU reads it. MissingPart when it is not installed, UnreadablePaper when it fails."""
    found = installed()
    if found is None:
        raise MissingPart("MinerU is not installed: there is no command `mineru`.", next_step=INSTALL)
    copies = tuple(f"picture{number}" for number in range(MOST_PICTURES))
    result = run_script(
        "mineru_run", found.program, "ocr" if unseen else "auto", box=box, name=name,
        given={"paper.pdf": data, SETTINGS: found.settings}, mounts=found.mounts,
        environment=found.environment, collect=("content.json", "gathered.json", *copies), limits=limits,
    )  # fmt: skip
    told = result_json(result, "gathered.json", name)
    if "content.json" not in result.results:
        said = str(told.get("said", "")).strip().splitlines()[-1:] or ["it said nothing"]
        raise UnreadablePaper(
            f"MinerU ended with status {told.get('code')} and left no list of contents: {said[0][:300]}. "
            f"Received: {name}",
            next_step="Try `mineru -p FILE -o FOLDER -b pipeline` by hand, or use --pdf-reader builtin.",
        )
    pictures = {
        str(wanted): result.results.get(str(copy), b"") for wanted, copy in dict(told["pictures"]).items()
    }
    shown = {wanted: image for wanted, image in pictures.items() if image.startswith(_PICTURE)}
    texts = {f"{name}#page={page.number}": "\n".join(line.text for line in page.lines) for page in pages}
    return draft_of(_content(result.results["content.json"], name), shown, texts, name, unseen, box=box)


def _content(data: bytes, name: str) -> list[Mapping[str, Any]]:
    try:
        told = read_json(data, most_bytes=LIMITS.result_bytes, deepest=DEEPEST)
    except ResultRefused as error:
        raise UnreadablePaper(
            f"What MinerU left cannot be read: {error.sentence} Received: {name}"
        ) from error
    return [block for block in told if isinstance(block, dict)] if isinstance(told, list) else []
