"""A training run observed from outside, recorded as a Trace."""
