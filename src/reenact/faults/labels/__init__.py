"""Targets and how they meet the outputs."""
