"""Inputs, their order and their scale."""
