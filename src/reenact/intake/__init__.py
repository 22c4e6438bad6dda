"""Untrusted bytes -> documents. Nothing read here is obeyed, imported or run.

report       a bug report from a file, standard input or GitHub: RawReport
github       an issue with its comments, and GitHub's refusals as sentences
web          the only file of this room that speaks HTTP
readable     bytes that claim to be text
repository   a folder, archive, bundle or address -> Checkout at a commit
archive      zip and tar archives, unpacked within bounds
git_words    what git says, turned into what happened to the user's wish
bundle       git bundles, fetched without running anything of theirs
papers/      a paper in any form: Paper; arXiv, Semantic Scholar, a library of cited papers
"""
