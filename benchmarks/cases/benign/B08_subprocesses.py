# /// case
# id = "B08"
# title = "subprocesses"
# does = "pipes data through a shell, time-limits a child, signals it and reads its status"
# limits = { wall_s = 60 }
# endings = ["ok"]
# ///
import signal
import subprocess
import sys

said = subprocess.run("printf 'b\\na\\n' | sort", shell=True, capture_output=True, text=True, check=True)
assert said.stdout == "a\nb\n", said
assert subprocess.run([sys.executable, "-c", "import sys; sys.exit(3)"], check=False).returncode == 3
try:
    subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.5, check=False)
except subprocess.TimeoutExpired:
    pass
else:
    raise AssertionError("the child was not time-limited")
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
child.send_signal(signal.SIGTERM)
assert child.wait(30) == -signal.SIGTERM
print("BENIGN done")
