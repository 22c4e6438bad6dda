"""The program ended with an exception."""
