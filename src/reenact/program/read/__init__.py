"""From source text to knobs and layers: one file for each way in which people write them."""
