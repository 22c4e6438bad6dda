"""Many trainings, their statistics, and delta debugging over changes.

trial       Trial (program, patch, seed, limits, rule for giving up); outcome: what came of it
trainer     changed programs over seeds, journalled, within a budget; budget: what that may cost and did cost
verify      the program as it stands against changed ones, over fresh seeds
executor    what every executor does; choose: one by its name; pool: processes of this machine; ensemble:
            those of one shape together; ray: a cluster; boxed: programs from elsewhere, in the sandbox;
            scripted: a twin for tests
cache       an executor that trains no configuration twice
metric      which number judges a training, and reading it off an outcome
folder      the folder that a trial runs in: like the user's, patched, thrown away
job, server, reading, batch   one trial sent to a fork server, and its outcome read
inject/     what runs in the user's interpreter: the fork server, the guard of links, the rule for giving up,
            Keras trainings as bare torch loops (reenact_express)
statistics, ddmin                is after better than before; the smallest part of a patch that suffices
"""
