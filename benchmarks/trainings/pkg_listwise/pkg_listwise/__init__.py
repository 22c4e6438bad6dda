"""Rank the answers to a query: ListNet, one list of eight documents a row."""
