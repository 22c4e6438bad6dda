"""Prepared virtual environments: built once with the network, for runs that have none."""
