"""Benchmarks: cases, metrics, goals beside what was reached."""
