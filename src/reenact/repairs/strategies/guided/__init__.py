"""The strategy `guided`: search.py its stages, ideas.py what it tries, finalists.py who gets more seeds."""
