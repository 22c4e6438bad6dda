"""What a model proposes, and what execution makes of it: claims, each with its edit and its check."""
