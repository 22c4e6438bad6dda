"""Code development: two roles over one shared state write a project, run it, fix it, until it
holds.

develop      the whole: stages, debugging, revisions           prompts/   the texts of the questions
questions    one version and what both roles know of it; what they are asked and may answer
checks       reading, sampled tests, dry run                   driver     our own program in the box
development  Development, Round, the log of all rounds, a commit each
"""
