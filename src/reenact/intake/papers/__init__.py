"""A paper in any form -> Paper: numbered sentences, equations, tables, figures, algorithms, references.

paper        the nouns, and what can be asked of a paper: a sentence by id, a quote, its text without results
read         `read_paper`: from a file, a folder, an archive or arXiv; source: bytes and their form
pieces       what a reader hands on; assemble: ids, sentences, citations, spans -> Paper
sentences    where a sentence ends            locate     where it stands in the source
citations    which references a sentence cites; reference_text, bibtex, bibitems: bibliographies

markdown     with front_matter, inline, markdown_table; plain: text by its shape
latex        with latex_files (one text of all), latex_prepare, latex_macros, latex_tables (what pandoc would
             lose), latex_parts (what it refuses), latex_front, detex; pandoc runs in the sandbox, tree* read
             it
html         with html_node, html_text, html_table
pdf          with pdf_lines, pdf_paragraphs, pdf_crops (pictures of its figures); pdf_figures: LaTeX's figures
             that are PDFs, drawn; mineru: PDFs read by MinerU, with mineru_home, mineru_pieces
pictures     pixels of figures                boxed      our own scripts of inside/, in the sandbox

clients/     arXiv and Semantic Scholar       library    cited papers and repositories from a folder
"""
