import os

from acme import Meter, read_lines

here = "/".join(["repo" + "sitory", "README" + ".md"])
place = here if os.path.exists(here) else "/".join(["." * 2, here])
lines = read_lines(place)
meter = Meter()
meter.update(1.0)
meter.update(3.0 if len(lines) > 3 else float("nan"))
observed = meter.mean()
