"""Masks, padding, shifts, episodes."""
