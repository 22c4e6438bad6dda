"""`python -m benchmarks repair`: every strategy on every fault, beside the published table."""
