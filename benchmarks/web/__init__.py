"""How long the pages of `reenact view` take as the journal grows."""
