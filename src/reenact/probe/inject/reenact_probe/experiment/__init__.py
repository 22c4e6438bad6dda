"""Small experiments with the program's own model, loss and first batch, before its first step."""
