"""What a script must pass before it is run: code looks at code, no opinion is asked.

stages    all of them: it parses, its names exist, it exercises the project
bindings  which names of the script are the project's, and what flows out of the project
honest    it does not patch, mock, copy or take apart what it is to show
"""
