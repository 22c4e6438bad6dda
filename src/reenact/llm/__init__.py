"""One interface to any model.

ask        what is asked and what comes back: Prompt, Request, Answer, the protocols Model and Wire
live       `open_model("anthropic:NAME", budget=...)`, and the conversation: budget, retries, repair
names      how model strings are spelt, which key each provider wants, the switch that forbids the
           network
provider   models behind an API, through pydantic-ai; what went wrong there, in our words
command    a program answers; relay: a person or program answers in a folder; scripted: code answers
recording  writes answers down as they come (Recorder) and answers from such a file (Replay)
budget     what may be spent and what a call costs; patience: when to try again, and the clock
prompts    prompts as text files; data from outside quoted so that it cannot break out
answers    typed answers out of whatever text came back
"""
