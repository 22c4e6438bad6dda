"""A small real story with every kind of effect."""
