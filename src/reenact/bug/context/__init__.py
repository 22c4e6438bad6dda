"""From a report and a repository to a few contexts that a model can work with, each within a budget.

build          build_contexts: the page that puts the steps in order
context        Context, Piece, Signature: what comes out
source         which files of a checkout are read, and how harmful ones are not
chunk          a file cut at its functions, classes and top level, no line twice
words          identifiers and prose as words; tokens estimated
code           the index with the text and the syntax trees behind it
index, store   chunks and words of a whole repository, kept on disk by content
expand         a report's words in the forms in which code has them
bm25, dense    the two halves of the hybrid score; the dense half is optional
clues, snippet what the report points at: frames, names, messages, files, its own code
frames         frames of a traceback found again in this checkout
targets        the definitions that a report means
rank           hybrid score, then the features of the second look
partition      modules of the repository, the best five
training       training loops by eight families of signs, and their order
dependencies   the definitions that chosen code rests on
surface, heads signatures and defaults of what the report mentions
excerpt        a long definition shortened around the lines that matter
select, pack   which pieces a context holds, and how they fit the budget
"""

from reenact.bug.context.build import Retrieval, build_contexts
from reenact.bug.context.context import Context, Piece, Signature

__all__ = ["Context", "Piece", "Retrieval", "Signature", "build_contexts"]
