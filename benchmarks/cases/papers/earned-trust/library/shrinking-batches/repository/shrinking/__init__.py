"""Training on the small-loss part of every batch."""
