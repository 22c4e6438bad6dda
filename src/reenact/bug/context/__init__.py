"""From a report and a repository to a few contexts that a model can work with, each within a budget.

build        build_contexts: the page that puts the steps in order
context      Context, Piece, Signature: what comes out; how pieces fit the budget
source       which files of a checkout are read, and how harmful ones are not
chunk        a file cut at its functions, classes and top level, no line twice
words        identifiers and prose as words, in the forms that code has; tokens estimated
index        chunks and words of a whole repository, kept on disk by content
code         the index with the text and the syntax trees behind it
clues        what the report points at: frames, names, messages, files, its own code
rank         hybrid score of words and meaning, then the features of the second look
definitions  the definitions that a report means, and those that chosen code rests on
surface      signatures and defaults of what the report mentions
training     training loops by eight families of signs, and their order
select       modules of the repository, and which pieces a context holds
"""
