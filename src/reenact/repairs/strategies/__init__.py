"""Strategies: each looks for changes that make a training better, its own way.

guided       from findings and priors, short trainings first (ours); ideas: what it begins with
random       any values, as many as the budget allows
bohb         TPE and Hyperband, from the faulty configuration
hebo         Bayesian optimisation by HEBO, from the faulty configuration
autotrainer  five problems, each with its order of remedies
llm          changes that a language model proposes
"""
