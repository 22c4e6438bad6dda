"""Validation, metrics, train and evaluation mode."""
