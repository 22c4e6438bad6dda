"""What a script must pass before it is run: code looks at code, no opinion is asked.

objection.py  one thing wrong, the stage that found it, in words for whoever wrote the script
bindings.py   which names of the script are the project's, and which hold objects of its classes
parses.py     it parses, and it is no larger than a script should be
lint.py       ruff's rules of plain errors
names.py      names, attributes and arguments exist in the project
honest.py     it does not patch, mock or take apart what it is to show
copies.py     nor copy it
relevance.py  it imports the project and exercises it
flow.py       what it observes comes out of the project
stages.py     all of them in their order
"""
