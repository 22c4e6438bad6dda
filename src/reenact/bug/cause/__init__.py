"""Beyond showing a bug: the lines that are suspected to cause it, and a patch that is proposed.

difference   the lines between two revisions whose change flips the script
slices       without a second revision: what only the failing part of the script executes
patch        what a model proposes, run against the proven test and the project's own tests
"""
