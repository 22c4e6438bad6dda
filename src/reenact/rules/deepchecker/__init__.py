"""TheDeepChecker (Ben Braiek and Khomh, TOSEM 2022): properties of a training program.

Ben Braiek and Khomh, "Testing Feedforward Neural Networks Training Programs" (TheDeepChecker), TOSEM 2022"""
