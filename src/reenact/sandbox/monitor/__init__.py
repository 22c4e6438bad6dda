"""A running box observed: what it uses, what it prints, which limit it crossed."""
