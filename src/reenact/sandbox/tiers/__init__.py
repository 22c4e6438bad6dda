"""Ways to run a program: one tier a file, and what each needs to start one."""
