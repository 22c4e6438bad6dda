"""The command line: a file a verb, the smallest next to those they are close to."""
