"""Segmentation of overlapping discs with tiny batches."""
