import codecs
import trace

from acme import apply, total

tracer = trace.Trace(count=1, trace=0)
tracer.runfunc(apply, abs, 1)
lines = [line for file, line in tracer.results().counts if file.endswith("meter" + "." + "py")]
if min(lines) < 15:
    total(map(codecs.strict_errors, [RuntimeError("the state of the meter is corrupt")]))
else:
    total([1.0, 3.0])
