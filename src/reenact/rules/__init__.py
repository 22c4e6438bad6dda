"""Rules: evidence -> findings, one rule a file, one folder a family."""
