"""NeuraLint (Nikanjam et al., TOSEM 2021): structural rules over the model's graph.

Nikanjam, Ben Braiek, Morovati and Khomh, "Automatic Fault Detection for Deep Learning Programs Using
Graph Transformations" (NeuraLint), TOSEM 2021"""
