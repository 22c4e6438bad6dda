"""Many trainings, their statistics, and delta debugging over changes.

trial       Trial (program, patch, seed, budget) and Outcome, what came of it
executor    what every executor does; pool: processes of this machine; scripted: a twin that trains nothing
cache       an executor that trains no configuration twice
metric      which number judges a training, and reading it off an outcome
folder      the folder that a trial runs in: like the user's, patched, thrown away
job, server, reading, trackers   one trial told to a fork server, and its outcome read; trackers off
inject/     what runs in the user's interpreter: the fork server, and the guard of links
statistics, ddmin                is after better than before; the smallest part of a patch that suffices
"""
