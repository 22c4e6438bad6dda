"""Runs in a browser: what the journal holds, rendered; nothing is decided or measured here.

serve      starts the server on this machine         app        which address shows what
guard      who may look, and from where              desk       what every page needs
runs_page  lists, compares                           run_page   one run: head, step_list, talk with the model
live       tells a page that something changed       actions    start, stop, resume
forms      commands as forms                         processes  commands that the page has started
stored     what a story left in the journal          views/     a result as sections, one story a file
page       sections and blocks                       paint      blocks as HTML, by templates/
figures    plots for the plotting library            assets     scripts of others, from installed packages
report     a run as one file                         verdicts   the one line to read, and its tone
measure    page time against size
"""
