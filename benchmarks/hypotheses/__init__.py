"""`python -m benchmarks hypotheses`: wrong claims about sound programs must not count, true ones should.

wrong/NAME  a sound program, and what a clever but mistaken reviewer says of it
true/NAME   a program with a fault, and what is right about it
case        both kinds of folders, as cases
case_run    one claim, tested as `reenact test-hypothesis` does
measure     all of them, one line of JSON a case; continued after a stop
card        wrong claims that count, true ones that do, a row a case
"""
