from right import SCALE

RATE = 0.1 * SCALE
