"""The project under test as its source says it is; nothing of it is imported here.

files.py      which Python files there are, where imports start, what identifies the whole
module.py     one parsed file: the names it defines
lookup.py     a dotted name -> what it is, through imports and re-exports
classes.py    a class with its bases: attributes, methods, how it is constructed and called
signature.py  whether the arguments of a call fit
"""
