"""From a report and a project to a few contexts that a model can work with, each within a budget.

build        build_contexts: the page that puts the steps in order, and which pieces a context holds
context      Context, Piece, Signature: what comes out; how pieces fit the budget
chunk        a file cut at its functions, classes and top level, no line twice
index        CodeIndex: chunks and words of a whole project, in the forms that code has; tokens
             estimated
clues        what the report points at: frames, names, messages, files, its own code
rank         hybrid score of words and meaning, then the features of the second look
definitions  the definitions that a report means or that chosen code rests on, with their signatures
training     training loops by eight families of signs, and their order
"""
