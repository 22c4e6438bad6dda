"""A small real pipeline with every kind of effect."""
