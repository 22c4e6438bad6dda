"""Durable runs: every effect recorded before and after, so that the same command continues."""
