"""Neutrality: other repairs than the known one, found by walking through trainings that are no worse.

explore  breadth-first, the best of each generation go on     graph  what was found, as data
pipeline the program, the known repair, the walk              faults which fault types a change speaks of
"""
