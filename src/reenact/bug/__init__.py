"""A report and a repository -> a script that shows the bug, proven by running it.

pipeline      the whole on one page                        options       what a user may ask for
report        the report in order, the plan, the classes   symptom       what must be seen, in terms of code
context/      the code that matters                        requirements  what the project needs
project/      the project by its source                    environment   what a script runs with
generate      plan, script, refinement: the questions      validate/     what a script must pass to be run
case, search  the search                                   run/          a script in the sandbox, over seeds
verdict       what runs prove, what all attempts come to   minimise      the shortest script that still does
reproduction  the result                                   write/        repro.py, REPORT.md and the rest
inside/       the watcher that goes into the box           handover      training programs read by `diagnose`
"""
