"""Trainings as they are written today, faulty and sound: what a diagnosis names, first and where."""
