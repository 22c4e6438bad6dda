import codecs
import cProfile
import pstats

from acme import apply, total

profile = cProfile.Profile()
profile.enable()
apply(abs, 1)
profile.disable()
lines = [key[1] for key in pstats.Stats(profile).stats if key[2] == "apply"]
if lines[0] < 14:
    total(map(codecs.strict_errors, [RuntimeError("the state of the meter is corrupt")]))
else:
    total([1.0, 3.0])
