"""Soil type from field sensors."""
