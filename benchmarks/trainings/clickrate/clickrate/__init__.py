"""Click-rate prediction with embeddings."""
