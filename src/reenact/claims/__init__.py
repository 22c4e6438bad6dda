"""A claim, what was executed to test it, and what came of it."""
