"""Runs pandoc in the sandbox: a text in, its syntax tree and what it skipped out.

Covered: pandoc may read no file but the one given (its own sandbox, and ours around it), time,
memory and the size and depth of what comes back. Not covered: whether pandoc understood the text;
what it says it skipped is handed on.
"""

import importlib.util
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias, cast

from reenact.errors import (
    MissingExtra,
    ResultRefused,
    SandboxFailed,
    Stopped,
    UnreadablePaper,
)
from reenact.sandbox.again import run_again_if_killed
from reenact.sandbox.box import MIB, BoxResult, Command, Ending, Limits, Sandbox
from reenact.sandbox.files.results import read_json

LIMITS = Limits(
    wall_s=120,
    memory_bytes=2048 * MIB,
    disk_bytes=256 * MIB,
    files=64,
    result_bytes=128 * MIB,
    processes=64,
)
DEEPEST = 240
"""Levels of the tree; a paragraph in a list in a quotation has about twenty."""
REFUSED = 64
"""Pandoc's status when a text breaks its grammar."""
HEAP = "-M1500m"
Node: TypeAlias = Mapping[str, Any]
"""An element of pandoc's tree: `t` is its kind, `c` what it holds."""
SCRIPT_LIMITS = replace(
    LIMITS, wall_s=180.0, memory_bytes=1536 * MIB, files=256, result_bytes=64 * MIB
)
SCRIPT_DEEPEST = 300
NEEDED = {
    "html_page": ("selectolax",),
    "pdf_pages": ("pypdfium2", "pdfplumber", "PIL"),
}
"""Packages that the scripts import."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What pandoc made of a text."""

    meta: Mapping[str, Any]
    blocks: tuple[Node, ...]
    skipped: tuple[str, ...]
    """Commands that it did not know, as they are in the source."""
    problem: str = ""
    """Why pandoc refused the text; then there is nothing else."""


def parse(
    text: str,
    form: str,
    *,
    box: Sandbox,
    limits: Limits = LIMITS,
    name: str = "paper",
) -> Parsed:
    """The syntax tree of a text, or pandoc's problem with it. UnreadablePaper when it does not
    end well.
    """
    # The program comes with the package pypandoc_binary.
    package = importlib.util.find_spec("pypandoc")
    pandoc = None
    if package and package.origin:
        pandoc = Path(package.origin).parent / "files" / "pandoc"
    if pandoc is None or not pandoc.is_file():
        raise MissingExtra("pypandoc_binary", "papers")
    argv = (
        str(pandoc),
        "+RTS",
        HEAP,
        "-RTS",
        "--sandbox",
        "--verbose",
        "--log=log.json",
        f"--from={form}",
        "--to=json",
        "--output=tree.json",
        "paper.txt",
    )
    given = {"paper.txt": text.encode("utf-8", "replace")}
    command = Command(
        argv=argv,
        files=given,
        collect=("tree.json", "log.json"),
    )
    result = run_again_if_killed(box, command, limits)
    tree = result.results.get("tree.json")
    if result.ending is Ending.EXIT and result.exit_code == REFUSED:
        return Parsed(
            {},
            (),
            (),
            _printed(result.output)[-200:].strip(" .^") or "it breaks the grammar",
        )
    if not result.ok or tree is None:
        raise failed(result, "pandoc", name, limits)
    try:
        parsed = cast(
            "dict[str, Any]",
            read_json(tree, most_bytes=limits.result_bytes, deepest=DEEPEST),
        )
    except ResultRefused as error:
        raise UnreadablePaper(
            f"The paper is built in a way that is not read: {error.sentence}"
        ) from error
    log: Any = []
    with suppress(ResultRefused):
        log = read_json(result.results.get("log.json", b"[]"))
    entries = (one for one in (log if isinstance(log, list) else []) if isinstance(one, dict))
    skipped = (
        str(one.get("contents", "")).strip()
        for one in entries
        if one.get("type") == "SkippedContent"
    )
    return Parsed(
        parsed["meta"],
        tuple(parsed["blocks"]),
        tuple(dict.fromkeys(skipped)),
    )


def _printed(output: str) -> str:
    """What a parser printed, without its warnings, on one line."""
    lines = (line.strip() for line in output.splitlines() if not line.startswith("["))
    return " ".join(line for line in lines if line)


def failed(
    result: BoxResult,
    who: str,
    name: str,
    limits: Limits,
) -> Exception:
    """The end of a parser that gave nothing, as a sentence."""
    if result.ending is Ending.CANCELLED:
        return Stopped("Stopped while a paper was read.")
    if result.ending in (Ending.SANDBOX_FAILED, Ending.KILLED):
        return SandboxFailed(f"The paper could not be read: {result.why}.")
    why = (
        f"cannot read the paper: "
        f"{_printed(result.output)[-300:] or result.why or result.ending.value}"
    )
    if result.ending is Ending.TIMEOUT:
        why = f"did not end with the paper within {limits.wall_s:g} s"
    elif result.ending is Ending.MEMORY_LIMIT or "heap" in result.output.lower():
        why = "needs more memory for this paper than it may use"
    return UnreadablePaper(f"{who} {why}. Received: {name}")


def run_script(
    script: str,
    *words: str,
    box: Sandbox,
    name: str,
    limits: Limits = SCRIPT_LIMITS,
    **more: Any,
) -> BoxResult:
    """What the script left; `more` is of its Command. UnreadablePaper, with what it printed, when
    it did not end well.
    """
    for package in NEEDED[script]:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "papers")
    source = files("reenact.intake.papers.inside").joinpath(f"{script}.py").read_bytes()
    argv = (
        sys.executable,
        "-s",
        "-B",
        f"{script}.py",
        *words,
    )
    more["files"] = {
        f"{script}.py": source,
        **more.get("files", {}),
    }
    alike = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    result = run_again_if_killed(
        box,
        Command(argv=argv, environment=alike, **more),
        limits,
    )
    if not result.ok:
        raise failed(result, "The reader", name, limits)
    return result


def read_by(
    script: str,
    file: str,
    *,
    name: str,
    limits: Limits = SCRIPT_LIMITS,
    **more: Any,
) -> Mapping[str, Any]:
    """The JSON object that a script of ours left in a file; `more` as for `run_script`."""
    left = run_script(
        script,
        name=name,
        collect=(file,),
        limits=limits,
        **more,
    ).results.get(file, b"")
    try:
        found = read_json(left, most_bytes=limits.result_bytes, deepest=SCRIPT_DEEPEST)
    except ResultRefused as error:
        raise UnreadablePaper(
            f"The paper cannot be read: {error.sentence} Received: {name}"
        ) from error
    if not isinstance(found, Mapping):
        raise UnreadablePaper(f"The paper cannot be read. Received: {name}")
    return cast("Mapping[str, Any]", found)
