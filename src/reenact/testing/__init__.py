"""What plug-ins are tested with: rules, strategies (a conformance suite), toy data."""
