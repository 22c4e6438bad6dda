"""The project under test as its source says it is; nothing of it is imported here.

files     which Python files there are, where imports start, what identifies the whole
codebase  a dotted name -> what it is; a class with its bases, its attributes and parameters
"""
