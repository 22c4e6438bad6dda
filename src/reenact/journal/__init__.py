"""Durable runs: every effect recorded before and after, so that the same command continues.

journal     Journal: starts, continues, removes, imports    reader     JournalReader: lists, shows, exports
open_run    OpenRun: a run being worked on, its verdict     scope      Scope: step, many, note, edit, write

recorder    the writer of one run                           codec      values into a row and out of it
records     Run, Step, with check sums; keys, ids, clock    rows       to and from the file, always proven
database    the SQLite file (schema.sql), its errors, versions and migrations
artefacts   large bytes by the hash of their content        storage    bytes written whole, locks
archive     a run out, as a file, and in                    signing    whose rows and traces these are
query       SQL, only to read                               upkeep     remove, sweep, check
"""

from reenact.journal.journal import Journal
from reenact.journal.open_run import OpenRun
from reenact.journal.reader import JournalReader
from reenact.journal.records import Cost, Kind, Run, State, Status, Step, mark
from reenact.journal.scope import Scope

__all__ = ["Cost", "Journal", "JournalReader", "Kind", "OpenRun", "Run", "Scope"]
__all__ += ["State", "Status", "Step", "mark"]
