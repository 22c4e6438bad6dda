"""Whether a second identical command reuses the trainings of the first.

command: chooses programs, asks for the marks of two watched runs of each, before and after, and
counts marks: the marks of one program, by whichever reenact is on the path
"""
