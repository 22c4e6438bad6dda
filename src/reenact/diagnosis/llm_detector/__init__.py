"""A language model as a detector, asked several times; only what can be checked is kept."""
