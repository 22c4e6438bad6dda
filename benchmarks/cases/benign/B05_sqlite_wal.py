# /// case
# id = "B05"
# title = "SQLite in WAL mode"
# does = "writes from two processes to one database with write-ahead log and file locks"
# limits = { wall_s = 60 }
# endings = ["ok"]
# ///
import os
import sqlite3

with sqlite3.connect("study.db", timeout=30) as made:
    assert made.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    made.execute("CREATE TABLE trials (worker INTEGER, value REAL)")
made.close()
child = os.fork()
base = sqlite3.connect("study.db", timeout=30, isolation_level=None)
for number in range(100):
    base.execute("BEGIN IMMEDIATE")
    base.execute("INSERT INTO trials VALUES (?, ?)", (bool(child), number / 7))
    base.execute("COMMIT")
if child == 0:
    base.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0
assert base.execute("SELECT count(*) FROM trials").fetchone() == (200,)
print("BENIGN done")
