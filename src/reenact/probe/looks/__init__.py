"""What a program looks at: seen at its system calls, below every language and library.

calls: which system calls, with which arguments, and the filter that stops them for us listener: the
filter in the program's process, and the thread here that is asked at each of these calls noted:
which looks count, which files are the program's own, and the list that is left after the run
"""
