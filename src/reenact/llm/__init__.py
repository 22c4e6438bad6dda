"""One door to any model."""
