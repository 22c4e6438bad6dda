"""Untrusted bytes -> documents. Nothing read here is obeyed, imported or run.

report       a bug report from a file, standard input or a GitHub issue: RawReport
web          the only file of this package that speaks HTTP
repository   a folder, archive, git bundle or address -> Checkout at a commit
archive      zip and tar archives, unpacked within bounds
papers/      a paper in any form: Paper; arXiv, Semantic Scholar, a library of cited papers
"""
