"""Lineage: which cited papers a work stands on, what they say, and the code that shows how it is done.

trace       the whole of it: candidates -> choice -> text, summary, repository, files -> Exemplar
candidates  references ranked by the paper's own citation contexts, without a model
words       what those contexts say: baseline, extends, generic
choose      a model's choice among the first candidates
texts       the text of a cited paper: library first, then the network
summary     what of it matters here, with places of that text
links       where a text says that code lies
search      where code lies that no text names
code        the repository, opened, and its files that matter
licence     what the repository says of its use
"""
