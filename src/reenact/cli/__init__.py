"""The command line: a file a verb, the smallest beside those they are close to."""
