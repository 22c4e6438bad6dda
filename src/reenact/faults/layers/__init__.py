"""Architecture, activations, initial weights."""
