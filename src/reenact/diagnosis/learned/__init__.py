"""The learned detector: DeepFD's idea over our traces.

features.py (and monitored.py): what it sees of a training; findings.py: the shipped model, read
without scikit-learn, and what it says of a program. `python -m benchmarks train-detector` trains
it.
"""
