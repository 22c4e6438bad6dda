"""Recognise insects by the silhouettes a light trap takes."""
