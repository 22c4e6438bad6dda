"""Lineage: which cited papers a work builds on, what they say, and the code that shows how it is done.

trace       the whole of it: candidates -> choice -> text, summary, repository, files -> Exemplar
cited       references ranked by the paper's own citation contexts, without a model: phrases.toml; the text of
            a cited paper, library first, then the network; where its code lies
code        the repository, opened, its files that matter, and the licence of its use
"""
