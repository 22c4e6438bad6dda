"""Data sets of the benchmarks: found, fetched, checked."""
