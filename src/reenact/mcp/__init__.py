"""For coding agents: the API as tools of the Model Context Protocol, on stdio.

server       the server; tools and resources that read: lint, hyperparameters, explain, runs
tools        what the server's starter allows, how a program is named, how a function becomes a tool
starting     tools that run code: diagnose, repair, reproduce_bug, reproduce_paper, resume; next to them
             result, stop and apply; request and answer, what a run asks of its model
sampling     a run asks the client's model
run_service  a run or a job in a few fields; a result, shortened
"""
