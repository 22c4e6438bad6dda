import warnings

from acme import total

total(filter(warnings.warn, ["meter overflow detected"]))
