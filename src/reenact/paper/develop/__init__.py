"""Code development: two roles over one shared state write a project, run it, fix it, until it holds.

develop      the whole: stages, debugging, revisions           version    one version, and what is known of it
questions    what both roles are asked                        answers    what a model may answer
checks       reading, sampled tests, dry run                  inside/    our own driver in the box
round_log    every version, the best among them               history    a commit a round
development  Development, Round: what came of it              prompts/   what the model is asked
"""
