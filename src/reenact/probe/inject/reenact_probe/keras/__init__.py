"""What is seen of a program that trains with Keras 3, on any backend."""
