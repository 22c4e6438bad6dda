"""What a script runs with.

declared.py  what the repository says it needs: its metadata, else its imports
pinned.py    what the report says was installed
prepared.py  the interpreter with those packages: this one where it has them, else one built for it
"""
