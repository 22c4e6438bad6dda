"""The last layer and the loss."""
