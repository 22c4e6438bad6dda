"""`python -m benchmarks forged`: forged programs and scripts through the real commands; none may be
believed.

case        one folder a case: what is forged and which verdicts are right
answers     the recording that answers every question of a case
history     the small repository of the bug cases, as git sees it
case_run    one case: `reenact paper` or `reenact bug` in a folder of its own
measure     all of them, one line of JSON a case; continued after a stop
card        forgeries believed, honest controls kept, one row a case
"""
