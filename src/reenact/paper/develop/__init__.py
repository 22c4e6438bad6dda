"""Code development: two roles over one shared state write a project, run it, mend it, until it holds.

brief        what is known before the first line is written       state     what the research role has learnt
answers      what a model may answer                              edits     answers put into the project
problem      one thing wrong, and what tells two alike            asking    the questions of both roles
stages       data, method, experiment, refactor                   checks    reading, then running
statics      what can be told by reading                          lint      ruff's rules of plain errors
trying       sampled tests and the dry run, in the sandbox        inside/   our own driver in the box
debug        analysis first, then edits                           revise    one plan, edits, the best kept
workshop     what it all works with, and one run in a box         packages  what the code may import
history      a commit a round                                     develop   the whole, top to bottom
development  Development, Round: what came of it                  book      every version, the best among them
work         one version being worked on                          prompts/  what the model is asked
hearing      what a run tells while it runs, bounded
"""
