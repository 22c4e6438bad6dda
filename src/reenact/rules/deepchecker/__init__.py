"""TheDeepChecker (Ben Braiek and Khomh, TOSEM 2022): properties of a training program."""
