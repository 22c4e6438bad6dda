"""The document of each result: one file a result, from the typed result to `Document`."""
