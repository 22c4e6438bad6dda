"""Durable runs: every effect recorded before and after, so that the same command continues.

journal     Journal: starts, continues, removes, imports    shelf      JournalReader: lists, shows, exports
open_run    OpenRun: a run being worked on, its verdict     scope      Scope: step, many, note, edit, write

perform     the law of a step: stored, or intent, effect, result
edits       file edits that a crash cannot tear             codec      which type a result has
recorder    the hand that writes one run                    writing    one transaction in the making
signing     whose rows these are: keyed hashes      sealing    the same for the folder of a trace
bodies      inputs and results into a row and out of it     flat       values as plain data, no pickle
records     Run, Step, Cost, Artefact, with check sums      rows       to and from the file, always proven
database    the SQLite file and its errors                  schema     its layout, versions, migrations
artefacts   large bytes by the hash of their content        storage    written whole or not at all
locks       who works on what, freed by death               keys       paths, keys, ids
host        machine and clock                               query      SQL, only to read
archive     the file that moves a run                       outgoing   a run out
incoming    a run in                                        forms      what may come in
upkeep      remove, sweep, check                            reuse      what was not made now, in a line
logs       what a started command prints
"""

from reenact.journal.journal import Journal
from reenact.journal.keys import mark
from reenact.journal.open_run import OpenRun
from reenact.journal.reader import JournalReader
from reenact.journal.records import Artefact, Cost, Kind, Run, State, Status, Step
from reenact.journal.scope import Scope

__all__ = [
    "Artefact",
    "Cost",
    "Journal",
    "JournalReader",
    "Kind",
    "OpenRun",
    "Run",
    "Scope",
    "State",
    "Status",
    "Step",
    "mark",
]
