"""For coding agents: the API as tools of the Model Context Protocol, on stdio.

server       the server, what its starter allows, how a function becomes a tool
reading      tools and resources that read: diagnose, knobs, rules, explain, runs, result
starting     tools that start a command in the background, poll, stop and resume it, answer what it asks
sampling     a run asks the client's model
run_service  types of answers; a run or a job in a few fields; a result, shortened
"""
