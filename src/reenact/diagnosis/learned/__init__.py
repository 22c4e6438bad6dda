"""The learned detector: DeepFD's idea over our traces.

features.py and its parts (monitored, written): what it sees of a training; forest.py reads the shipped model
without scikit-learn; findings.py: what it says of a program. `python -m benchmarks train-detector` trains it.
"""
