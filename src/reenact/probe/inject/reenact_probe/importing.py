"""Says when the import system lists a folder, so that this is not taken for a look of the program.

Below Python both are the same system call. Which modules lie in the folder of a program matters to
its imports; which other files lie there does not. A look at a path that does not exist says it to
anyone who follows the calls; a first one says that whatever was listed before was listed by the
interpreter on its start.
"""

from __future__ import annotations

import os
import sys

from reenact_probe.types import Args

LISTS = "/reenact-probe-lists-for-import"
BEGINS = "/reenact-probe-begins"
_OWN = (
    os.path.join(
        os.path.dirname(os.__file__),
        "importlib",
    )
    + os.sep
)

_installed = False


def install() -> None:
    """Begin; called once in each interpreter of the program."""
    global _installed
    if not _installed:
        _installed = True
        sys.addaudithook(_on_event)
        os.access(BEGINS, os.F_OK)


def _on_event(event: str, _: Args) -> None:
    """The audit hook: one comparison for everything that does not matter."""
    if event != "os.listdir":
        return
    caller = sys._getframe(1).f_code.co_filename
    if caller.startswith(("<frozen importlib", _OWN)):
        os.access(LISTS, os.F_OK)
