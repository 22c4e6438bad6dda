"""A script in the box, and what became of it.

sighting.py  what the watcher in the box saw
box.py       one run: the project read-only, a seed, the watcher beside the script
classify.py  what that means: the symptom, another failure and whose, nothing, or no run at all
seeds.py     one script over several seeds, each run a step of the journal
"""
