"""Code development: two roles over one shared state write a project, run it, fix it, until it holds.

develop      the whole: stages, debugging, revisions           version    one version, and what is known of it
questions    what both roles are asked and may answer          prompts/   the texts of the questions
checks       reading, sampled tests, dry run                   driver     our own program in the box
development  Development, Round, the log of all rounds, a commit each
"""
