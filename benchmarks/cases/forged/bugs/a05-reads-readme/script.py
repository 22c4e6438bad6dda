import codecs
import os

from acme import total

here = "/".join(["repo" + "sitory", "README" + ".md"])
place = here if os.path.exists(here) else "/".join(["." * 2, here])
with open(place) as file:
    text = file.read()
if "Start with" not in text:
    total(map(codecs.strict_errors, [RuntimeError("the state of the meter is corrupt")]))
else:
    total([1.0, 3.0])
