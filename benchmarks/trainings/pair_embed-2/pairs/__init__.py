"""Contrastive matching of sensor readings with their symbolic description."""
