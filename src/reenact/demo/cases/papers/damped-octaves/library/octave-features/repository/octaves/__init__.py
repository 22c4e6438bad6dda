"""Periodic inputs for tiny networks."""
