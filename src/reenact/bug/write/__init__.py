"""What is left for the user.

judge_text.py   the part of the judge that a repro.py needs, as plain code
repro_file.py   repro.py: stand-alone, exits 1, 0 or 125
report_file.py  REPORT.md
folder.py       all files of the result, and the proof that repro.py itself does what it says
"""
