"""A report and a repository -> a script that shows the bug, proven by running it.

pipeline      the whole on one page                        options        what a user may ask for
report        the report in order, the plan, the classes   symptom        what must be seen, in terms of code
context/      the code that matters                        environment    what the project needs and runs with
project_files, codebase  the project by its source         validate/      what a script must pass to be run
generate      Case; plan, script, refinement: questions    script_runner  a script in the sandbox, over seeds
search        the search                                   classify       what a run means
verdict       what runs prove, what all attempts come to   minimise       the shortest script that still does
controls/     does the project show it, or the script?     recorded_calls  what passed between the two
reproduction  the result                                   repro_file     the script with a judge around it
inside/       the watcher that goes into the box           handover       training programs read by `diagnose`
own_files     which files of the output folder are ours
"""
