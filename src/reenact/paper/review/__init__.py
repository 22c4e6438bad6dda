"""Review: three summaries of the paper, the numbers it claims, and what anyone who writes code may not
see.

review  overall, method, experiment: statements, each with the sentences it rests on; numbers read
        off figures
claims  every reported number of the task, found in its cell or sentence; where the results are
"""
