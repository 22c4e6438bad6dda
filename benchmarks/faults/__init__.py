"""The fault benchmark: programs, ground truths, scores."""
