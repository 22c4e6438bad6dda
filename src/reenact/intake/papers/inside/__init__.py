"""Scripts that parse strange bytes inside the sandbox. They import nothing of reenact.

html_tree    HTML -> a tree as JSON, without what no reader sees
pdf_text     PDF -> lines of text, page by page, and tables
pdf_image    the first page of a PDF figure -> PNG
"""
