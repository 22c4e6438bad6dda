"""Many trainings, their statistics, and delta debugging over changes.

trial       Trial (program, patch, seed, limits); outcome: what came of it
trainer     changed programs over seeds, journalled, within a budget; budget: what that may cost and did cost
verify      the unchanged program against changed ones, over fresh seeds
executor    what every executor does, a twin for tests; choose: one by its name; pool: processes of this
            machine; ray: a cluster (parcel: a program on its way there, and the worker); boxed: programs
            from elsewhere, in the sandbox
cards       which trainings run on which graphics card, side by side
metric      which number judges a training, and reading it off an outcome
bounds      what a metric can come to: the least of a loss, a constant answer; what is not an improvement
folder      the folder that a trial runs in: like the user's, patched, thrown away; where it lies
job, reading   one trial sent to a fork server of the pool, and its outcome read
inject/     what runs in the user's interpreter: the fork server, the guard of links, the end of lost
            trainings, parts of the data, weights to continue from, memory of cards
statistics, ddmin      is after better than before; the smallest part of a patch that suffices
"""
