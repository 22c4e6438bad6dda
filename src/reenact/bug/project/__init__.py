"""The project under test as its source says it is; nothing of it is imported here.

files    which Python files there are, where imports start, what identifies the whole
lookup   one parsed file and the names it defines; a dotted name -> what it is
classes  a class with its bases: attributes, methods, and whether the arguments of a call fit
"""
