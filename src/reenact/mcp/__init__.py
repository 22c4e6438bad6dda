"""The door for coding agents: the command line as tools of the Model Context Protocol, on stdio.

server     the server: permits, tools, resources          permits    what its starter allows
reading    tools that read: diagnose, hyperparameters, rules, runs   starting   tools that start a story
following  tools that poll, stop, continue and answer      tools      how a function becomes a tool
command    a verb run in a process of its own, as JSON     words      the words of a long verb, checked
jobs       long verbs in the background, on disk           run_service  a run and a job in a few fields
brief      a large result cut down to what an agent needs  sampling   a run asks the client's model
answers    the types of all answers                        resources  runs and rules by address

Nothing is implemented here a second time: a tool starts the verb that a person would type.
"""
