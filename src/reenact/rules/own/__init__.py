"""Our own rules: the blind spots that no tool of the study covers."""
