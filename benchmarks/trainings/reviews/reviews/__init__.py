"""Rare complaint detection in product reviews."""
