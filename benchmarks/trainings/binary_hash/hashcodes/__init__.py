"""Binary codes for images with a straight-through sign and a decoder that reuses the encoder's matrix."""
