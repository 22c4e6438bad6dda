"""Shows any result: terminal, concise, json, sarif, github, html, markdown, and the parts of the live pages.

document    what is said, before anyone decides how it looks     views/   a typed result as a document
render      picks the format: as_full as_concise as_json as_markdown as_html as_sarif as_github
plots       one function a plot, drawn by svg*                   trace_plots, training_plots
stored      what a pipeline left in the journal                  run_report   a run as one file
run_head    what stands above any run                            run_words    runs and steps in words
conversation   questions to the model and their answers          rule_pages, progress
"""
