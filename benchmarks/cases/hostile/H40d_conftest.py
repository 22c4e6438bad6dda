# /// case
# id = "H40d"
# title = "conftest.py and project hooks"
# tries = "is run by a test runner or a build of the folder"
# limits = { wall_s = 15 }
# collect = ["conftest.py", "setup.py", "pyproject.toml"]
# host_step = "python"
# endings = ["ok"]
# proof = "the tripwire on the host is not touched when the host works in the folder"
# watches = ["tripwire"]
# unconfined = "not run: the host's own step decides, with any tier"
# ///
import os

trip = f"import pathlib; pathlib.Path({os.environ['CANARY_TRIPWIRE']!r}).write_text('tripped')\n"
for name in ("conftest.py", "setup.py"):
    with open(name, "w") as sink:
        sink.write(trip)
with open("pyproject.toml", "w") as sink:
    sink.write('[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n')
    sink.write('[tool.pytest.ini_options]\naddopts = "-p conftest"\n')
