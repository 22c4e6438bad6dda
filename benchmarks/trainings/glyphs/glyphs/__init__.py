"""Handwritten digit recognition."""
