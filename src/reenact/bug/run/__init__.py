"""A script in the sandbox, and what became of it.

observation    what the watcher in the box saw
script_runner  one run: the project read-only, seeds, the watcher beside the script
classify       what that means: the symptom, another failure and whose, nothing, or no run at all
"""
