"""A paper in any form -> Paper: numbered sentences, equations, tables, figures, algorithms, references.

paper        the nouns, and what can be asked of a paper: a sentence by id, a quote, its text without results
read         `read_paper`: from a file, a folder, an archive or arXiv; HTML through html_page in the sandbox,
             pandoc and tree; source: bytes and their form
assemble     the draft that a reader hands on -> Paper: ids, sentences and where one ends, citations
references   an entry as it is printed, and which ones a sentence cites; bibliography: BibTeX, bibitems

markdown     Markdown; converted: what converters leave of a PDF put right, algorithms too; plain: text by its
             shape, captions and tables that both share
latex        with latex_files (one text of all), latex_prepare and tables (what pandoc would lose) and
             latex_macros (the author's commands); pandoc: runs in the sandbox; tree: reads what it found
pdf          lines of a PDF by their look and place
pictures     pixels of figures
inside/      our own scripts that run in the sandbox

clients      arXiv, Semantic Scholar, and a library: cited papers and repositories from a folder
"""
