"""Shows any result: terminal, concise, json, sarif, github, html, markdown, and the parts of the
live pages.

document    what is shown, before anyone decides how it looks    views/      a typed result as a document
drawing     what a result asks to be drawn by; a notebook's cell
render      picks the format, makes texts and JSON; as_full, as_html
line_plot, charts   one function a plot, drawn with the pieces of svg        trace_plots
recorded    a recorded run as a document                         run_report  a run as one file
run_words   runs and steps in words, a row of a list             fault_pages
progress    waiting made visible; terminal_line: one line below a program's output, kept apart by cursor
"""
