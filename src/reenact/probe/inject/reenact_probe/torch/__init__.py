"""What is seen of a program that trains with PyTorch. Nothing here imports torch before the
program has.
"""
