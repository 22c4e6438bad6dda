# /// case
# id = "B07"
# title = "temporary files"
# does = "uses named and unnamed temporary files and folders, and maps one into memory"
# limits = { wall_s = 60 }
# endings = ["ok"]
# ///
import mmap
import pathlib
import tempfile

with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as unnamed, tempfile.NamedTemporaryFile() as named:
    (pathlib.Path(folder) / "inner").mkdir()
    unnamed.write(b"x" * 100_000)
    named.write(b"y" * 100_000)
    named.flush()
    with mmap.mmap(named.fileno(), 0) as view:
        assert view[99_999] == ord("y")
        view[0] = ord("z")
    named.seek(0)
    assert named.read(2) == b"zy"
print("BENIGN done")
