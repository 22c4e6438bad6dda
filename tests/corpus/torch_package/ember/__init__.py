"""Predict the heat lost by a small oven."""
