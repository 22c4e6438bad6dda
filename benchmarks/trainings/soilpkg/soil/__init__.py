"""Soil type from reflectance spectra."""
