"""What `bug` and `paper` both do with code that a model wrote. Nothing here knows a report or a paper.

project        Project: the files of one version; Problem       edits          what a model changes in them
static_checks  what can be seen by reading                       syntax         Python text as trees
environment    Environment: an interpreter and its packages      runner         ProjectRunner: a run in a box;
               ProgramRun: what is known of it afterwards; LogSampler: its log lines, bounded
"""
