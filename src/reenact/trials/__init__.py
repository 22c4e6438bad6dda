"""Many trainings, their statistics, and delta debugging over changes."""
