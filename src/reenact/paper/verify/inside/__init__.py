"""What runs inside a box, beside the project. It imports nothing of reenact.

call_functions   calls named functions on given values and writes down what they return
"""
