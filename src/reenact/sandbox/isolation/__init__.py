"""What a box is made of: what it sees, what it may ask of the kernel, hard limits."""
