"""Scripts that parse strange bytes inside the sandbox. They import nothing of reenact.

html_page    HTML -> a page for pandoc, without what no reader sees
pdf_pages    PDF -> lines of text, page by page, and tables; or pages of it as PNG
"""
