"""What plug-ins are tested with: faults, strategies (a conformance suite), toy data."""
