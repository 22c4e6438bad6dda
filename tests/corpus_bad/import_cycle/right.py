from left import RATE

SCALE = 2 if RATE else 1
