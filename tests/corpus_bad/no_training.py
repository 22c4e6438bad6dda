"""Counts words. There is no model, no optimiser and no loop over epochs."""
import collections

lr = 0.1  # a number with a tempting name
text = "to be or not to be"
counts = collections.Counter(text.split())
for epochs, word in enumerate(counts):
    print(epochs, word, counts[word])
