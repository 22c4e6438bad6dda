"""Learning from a mixture of labels and remembered predictions."""
