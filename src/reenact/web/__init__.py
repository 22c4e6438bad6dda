"""Runs in a browser: what the journal holds, rendered; nothing is decided, measured or drawn here.

serve      which address shows what, on this machine
guard      who may look, and from where              state      what every page needs; commands as forms
runs_page  lists, sorts, filters; any number of runs side by side
run_page   one run: its head, its document, its steps
actions    start, stop, resume, apply, rename, remove, by `reenact.jobs`
render     templates/, documents by report/, and scripts of others, from installed packages
"""
