"""`read_paper`: a paper from wherever it is, in whatever form it has, as `Paper`."""

import os
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.errors import UnreadablePaper, UnreadableRepository
from reenact.intake.archive import Bounds, unpack
from reenact.intake.papers.assemble import Draft, assemble
from reenact.intake.papers.clients import Clients, arxiv_id
from reenact.intake.papers.latex_files import Files
from reenact.intake.papers.markdown import read_markdown
from reenact.intake.papers.pandoc import parse, read_by
from reenact.intake.papers.paper import Lost, Paper
from reenact.intake.papers.pictures import Pictures
from reenact.intake.papers.plain import read_plain
from reenact.intake.papers.references import keyed, reference_of
from reenact.intake.papers.source import Form, form_of, load, text_of, unpacked
from reenact.intake.papers.tree import Walk
from reenact.sandbox.box import Sandbox

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
READ = (".md", ".markdown", ".html", ".htm", ".pdf", ".txt")
"""Endings of papers that are a single file."""
SCRATCH = "reenact-paper-"
ARCHIVE = Bounds(
    most_bytes=512 * 1024**2,
    most_files=5000,
    deepest=20,
)
"""How large the source of a paper may be."""


def read_paper(ref: str, *, box: Sandbox, clients: Clients | None = None) -> Paper:
    """The paper that `ref` names: a file, a folder with LaTeX, an archive, an arXiv id or address.
    What exists on this disk is never asked for elsewhere. UnreadablePaper says why a paper cannot
    be read.
    """
    reader = _Reader(box, ref)
    path = Path(ref)
    name = arxiv_id(ref)
    if name and not os.path.lexists(path):
        fetched = (clients or Clients()).arxiv.fetch(name)
        draft = reader.read(fetched.data, fetched.name, None)
        # Which better forms of it there are not.
        lost = (
            *draft.lost,
            *(Lost("file", note) for note in fetched.notes),
        )
        return assemble(
            replace(draft, lost=lost),
            f"arXiv:{name}",
        )
    if _ADDRESS.match(ref):
        why = f"Only papers of arXiv are read by address. Received: {ref}"
        raise UnreadablePaper(why, next_step="Download the paper and name the file.")
    if os.path.isdir(path):  # noqa: PTH112 - a name that is too long is not a folder, and no error
        return assemble(reader.folder(path), ref)
    return assemble(
        reader.read(
            load(path),
            path.name,
            path.absolute().parent,
        ),
        ref,
    )


@dataclass(frozen=True)
class _Reader:
    box: Sandbox
    source: str

    def folder(self, folder: Path) -> Draft:
        """A folder: LaTeX when there is any, else the only paper in it."""
        from reenact.intake.papers.latex import read_latex

        files = (path for path in sorted(folder.iterdir()) if not path.is_symlink())
        alone = [path for path in files if path.suffix.lower() in READ]
        if len(alone) == 1 and not Files(folder).names(".tex", ".ltx"):
            return self.read(
                load(alone[0]),
                alone[0].name,
                folder,
            )
        return read_latex(folder, "", box=self.box, source=self.source)

    def read(self, data: bytes, name: str, folder: Path | None) -> Draft:
        """A file by its content. `folder` is where pictures and included files may lie."""
        form = form_of(data, name)
        if form is Form.PACKED:
            inner = unpacked(data, name)
            if form_of(inner, name.removesuffix(".gz")) is Form.PACKED:
                raise UnreadablePaper(f"The file is packed twice. Received: {name}")
            return self.read(inner, name.removesuffix(".gz"), None)
        if form is Form.ARCHIVE:
            return self._archive(data, name)
        if form is Form.LATEX:
            return self._latex(data, name, folder)
        if form is Form.PDF:
            from reenact.intake.papers.pdf import read_pdf

            return read_pdf(data, name, box=self.box)
        if form is Form.HTML:
            return _html(
                text_of(data, name),
                name,
                Pictures(folder),
                self.box,
            )
        if form is Form.MARKDOWN:
            return read_markdown(text_of(data, name), Pictures(folder))
        return read_plain(text_of(data, name))

    def _archive(self, data: bytes, name: str) -> Draft:
        with tempfile.TemporaryDirectory(prefix=SCRATCH) as scratch:
            packed = Path(scratch, "packed")
            inside = Path(scratch, "inside")
            packed.write_bytes(data)
            inside.mkdir()
            try:
                folder, _ = unpack(packed, inside, ARCHIVE)
            except UnreadableRepository as error:
                sentence = error.sentence.replace("The archive packed", f"The archive {name}")
                raise UnreadablePaper(sentence) from error
            return self.folder(folder)

    def _latex(self, data: bytes, name: str, folder: Path | None) -> Draft:
        from reenact.intake.papers.latex import read_latex

        if folder is not None and (folder / name).is_file():
            return read_latex(folder, name, box=self.box, source=self.source)
        with tempfile.TemporaryDirectory(prefix=SCRATCH) as scratch:
            Path(scratch, "paper.tex").write_bytes(data)
            return read_latex(
                Path(scratch),
                "paper.tex",
                box=self.box,
                source=self.source,
            )


def _html(text: str, name: str, pictures: Pictures, box: Sandbox) -> Draft:
    """The paper on a page of LaTeXML (arXiv, ar5iv) or an ordinary one: pandoc reads what a script
    in the sandbox leaves of it, without what no reader sees and with what pandoc would lose
    rewritten.
    """
    page = read_by(
        "html_page",
        "page.json",
        name=name,
        box=box,
        stdin=text.encode("utf-8", "replace"),
    )
    entries = ((number, *one) for number, one in enumerate(page["references"], start=1) if any(one))
    references = tuple(
        reference_of(key, text) if key else keyed(text, at) for at, key, text in entries
    )
    walk = Walk(
        pictures,
        keys=frozenset(one.key for one in references),
    )
    pieces = tuple(walk.pieces(parse(page["page"], "html", box=box, name=name).blocks))
    lost = [
        Lost("equation", f"A formula came without its LaTeX: {words!r}.")
        for words in page["formulas"]
    ]
    lost += [
        Lost("macro", f"No one defined {name} when the page was made.") for name in page["macros"]
    ]
    lost += [*walk.lost, *pictures.lost]
    if page["unseen"]:
        lost.append(
            Lost(
                "text",
                f"Elements that no reader would see were left out: {page['unseen']}.",
            )
        )
    return Draft(
        "html",
        pieces=pieces,
        title=page["title"],
        authors=tuple(page["authors"]),
        abstract=(),
        references=references,
        lost=tuple(lost),
    )
