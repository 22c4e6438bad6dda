"""Scripts that parse strange bytes inside the sandbox. They import nothing of reenact.

html_tree    HTML -> a tree as JSON, without what no reader sees
pdf_text     PDF -> lines of text, page by page, and tables
pdf_image    the first page of a PDF figure -> PNG
pdf_crop     what is drawn next to a caption -> PNG
mineru_run   MinerU's command, and what it left under names that are known
"""
