"""Facts: what a detector may ask of the evidence, each question in one place."""
