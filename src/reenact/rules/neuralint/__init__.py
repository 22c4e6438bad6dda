"""NeuraLint (Nikanjam et al., TOSEM 2021): structural rules over the model's graph."""
