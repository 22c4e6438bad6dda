"""One door to any model.

ask.py       what is asked and what comes back: Prompt, Request, Answer, the protocol Model
door.py      a string becomes a model: `open_model("anthropic:NAME", budget=...)`
names.py     how model strings are spelt, and which key each provider wants
live.py      the conversation with a living model: budget, patience, parsing, repair
wire.py      what a variety must be able to do: send one call, bring one reply
provider.py  varieties: pydantic-ai providers ... command.py, relay.py, scripted.py
record.py    writes answers down as they come; replay.py gives them again
budget.py    what may be spent; prices.py what a call costs; patience.py when to try again
prompts.py   prompts as text files; data from outside quoted so that it cannot break out
answers.py   typed answers out of whatever text came back
network.py   the switch that forbids models beyond this machine
"""
