"""The learned detector: DeepFD's idea over our traces.

features.py and its parts: what it sees of a training; forest.py reads the shipped model without scikit-learn;
findings.py: what it says of a program. It is trained by `python -m benchmarks train-detector`.
"""
