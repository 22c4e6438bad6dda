"""NaN, infinity, too few bits."""
