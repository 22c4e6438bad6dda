"""A training program as data: knobs, patches, model graph."""
