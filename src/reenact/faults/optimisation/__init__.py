"""Optimizer, learning rate, schedule, gradients, what is updated."""
