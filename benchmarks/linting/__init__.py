"""How long the static rules take over many files."""
