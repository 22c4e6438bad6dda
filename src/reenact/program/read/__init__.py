"""From source text to hyperparameters and layers: one file for each way in which people write them."""
