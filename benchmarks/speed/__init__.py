"""How many trainings a second: our executors, a plain loop over the program, and Ray Tune."""
