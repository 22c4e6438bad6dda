"""A training program as data: hyperparameters, patches, model graph."""
