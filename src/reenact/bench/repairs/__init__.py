"""`reenact bench repair`: every strategy on every fault of the benchmark, beside the published table."""
