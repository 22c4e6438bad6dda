"""A report and a repository -> a script that shows the bug, proven by running it.

story         the whole on one page                        wishes        what a user may ask for
report        the report in order, the plan                symptom       what must be seen, in terms of code
restructure   both asked of a model                        taxonomy      classes of faults and symptoms
context/      the code that matters                        environment/  what a script runs with
project/      the project by its source                    validate/     what a script must pass to be run
generate      plan, script, refinement: the questions      answers       what a model gives back
case, hunt    the search                                   run/          a script in the box, over seeds
confirm       what runs prove                              verdict       what all attempts come to
minimise      the shortest script that still does          statements    a script in parts
reproduction  the result                                   write/        repro.py, REPORT.md and the rest
inside/       the watcher that goes into the box           handover      training programs read by `diagnose`
"""
