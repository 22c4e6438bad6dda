"""Fixes: a fault and a program -> edits of its code, one family of edits a file.

Each is made from the flow of the program: what a call is, what reaches it, in which block it is; never from
what its author calls things. It keeps the layout and the comments, offers nothing for a program that is
right already, and is refused in a sentence where it cannot be written safely. Several candidates come in the
order of their likelihood: one is right where the same detector is silent on the edited program.
"""
