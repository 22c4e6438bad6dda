"""The data of the benchmarks: formats, archives, storage, where it is looked for."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.data import recipes as data_recipes
from benchmarks.data.find import check, data_folder, fetch, locate, provide
from benchmarks.data.formats import (
    pack_texts,
    read_events,
    read_flowers,
    read_idx,
    read_labels,
    read_sprite,
)
from benchmarks.data.packages import Package, read_members, run, unpacked
from benchmarks.data.sets import DATASETS, NOWHERE
from benchmarks.data.store import complaint, digest, load, save
from benchmarks.faults.command import fetch as fetch_verb
from reenact.errors import InputError, MissingPart, StorageError
from reenact.types import ExitCode

SIDE = 4
TEXTS = pack_texts([[1, 4, 9], [1, 7], [1, 2, 3, 4]], [0, 2, 1], train_count=2)


@pytest.fixture(autouse=True)
def _no_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user of this machine has fetched must not be found."""
    monkeypatch.setenv("REENACT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def idx(array: np.ndarray) -> bytes:
    return (
        bytes([0, 0, 8, array.ndim])
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.tobytes()
    )


def png(lines: np.ndarray, filters: list[int]) -> bytes:
    """An 8-bit RGB picture whose lines are filtered as asked, written straight from the
    specification.
    """
    body, above = b"", np.zeros(lines.shape[1], int)
    for kind, line in zip(filters, lines.astype(int), strict=True):
        left = np.concatenate([np.zeros(3, int), line[:-3]])
        corner = np.concatenate([np.zeros(3, int), above[:-3]])
        guess = {
            0: 0 * line,
            1: left,
            2: above,
            3: (left + above) // 2,
            4: paeth(left, above, corner),
        }[kind]
        body += bytes([kind]) + ((line - guess) % 256).astype(np.uint8).tobytes()
        above = line
    header = struct.pack(">II5B", lines.shape[1] // 3, len(lines), 8, 2, 0, 0, 0)
    packed = zlib.compress(body)
    chunks = [
        (b"IHDR", header),
        (b"IDAT", packed[:20]),
        (b"IDAT", packed[20:]),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def paeth(left: np.ndarray, up: np.ndarray, corner: np.ndarray) -> np.ndarray:
    estimate = left + up - corner
    nearest = np.argmin([abs(estimate - left), abs(estimate - up), abs(estimate - corner)], axis=0)
    return np.choose(nearest, [left, up, corner])


def tarball(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tape:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tape.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("package/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tape.addfile(link)
    return path


def test_idx_is_read_and_anything_else_refused() -> None:
    images = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    assert (read_idx(idx(images), (2, 3, 3)) == images).all()
    for damaged in (
        idx(images)[:-1],
        idx(images) + b"x",
        b"",
        idx(images.reshape(2, 9)),
    ):
        with pytest.raises(InputError, match="IDX file of shape"):
            read_idx(damaged, (2, 3, 3))


def test_sprites_are_read_through_every_png_filter() -> None:
    lines = np.random.default_rng(1).integers(0, 256, (10, 3 * SIDE * SIDE))
    pictures = read_sprite(png(lines, [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]), 10, SIDE)
    assert (pictures.reshape(10, -1) == lines).all()


def test_a_damaged_or_swapped_picture_is_refused() -> None:
    lines = np.zeros((3, 3 * SIDE * SIDE), int)
    with pytest.raises(InputError, match="PNG of 16 x 4"):
        read_sprite(png(lines, [0, 0, 0]), 4, SIDE)
    whole, broken = (
        png(lines[:1], [0]),
        zlib.compress(bytes([9]) + bytes(3 * SIDE * SIDE)),
    )
    unheard_of = (
        whole[: whole.index(b"IDAT") - 4] + struct.pack(">I4s", len(broken), b"IDAT") + broken
    )
    with pytest.raises(InputError, match="unknown filter 9"):
        read_sprite(unheard_of, 1, SIDE)
    with pytest.raises(InputError, match="The PNG ends early"):
        read_sprite(whole[: whole.index(b"IEND") - 30], 1, SIDE)
    with pytest.raises(InputError, match="A PNG was expected"):
        read_sprite(b"GIF89a", 3, SIDE)


def test_labels_flowers_and_events() -> None:
    assert read_labels(b"[0, 2, 1]", 3, 3).tolist() == [0, 2, 1]
    for wrong in (b"[0, 3, 1]", b"[0, 1]", b'{"a": 1}'):
        with pytest.raises(InputError, match="JSON list of 3 numbers"):
            read_labels(wrong, 3, 3)
    measures, species = read_flowers(b"2,4,a,b\n5.1,3.5,1.4,0.2,0\n6,3,4,1,1\n", 2)
    assert (measures.shape, species.tolist()) == ((2, 4), [0, 1])
    events = read_events("EventId,A,B,Weight,Label\n1,2,3,.5,s\n2,4,-999,.1,b\n", 2)
    assert events["x"].tolist() == [[2, 3, 0.5], [4, -999, pytest.approx(0.1)]]
    assert events["y"].tolist() == [0, 1]
    with pytest.raises(InputError, match=r"training\.csv with EventId"):
        read_events("A,B\n1,2\n", 1)


def test_members_of_archives(tmp_path: Path) -> None:
    tape = tarball(tmp_path / "a.tgz", {"package/a": b"12345", "package/b": b"x"})
    assert read_members(tape, {"package/a": 5}) == {"package/a": b"12345"}
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as box:
        box.writestr("data/a", b"123")
    assert read_members(tmp_path / "a.whl", {"data/a": 3}) == {"data/a": b"123"}
    for archive, wanted, why in (
        (tape, {"package/a": 4}, "larger than the 4 bytes"),
        (tape, {"package/c": 4}, "does not hold what it should"),
        (tape, {"package/link": 4}, "does not hold what it should"),
        (tmp_path / "a.whl", {"data/b": 1}, "does not hold what it should"),
    ):
        with pytest.raises(InputError, match=why):
            read_members(archive, wanted)
    (tmp_path / "torn").write_bytes(tape.read_bytes()[:60])
    with pytest.raises(InputError, match="does not hold what it should"):
        read_members(tmp_path / "torn", {"package/a": 5})


def test_gzip_members_unpack_within_bounds() -> None:
    assert data_recipes._gunzipped(gzip.compress(b"abc"), most=3) == b"abc"
    with pytest.raises(InputError, match="more than 2 bytes"):
        data_recipes._gunzipped(gzip.compress(bytes(10_000)), most=2)
    with pytest.raises(InputError, match="damaged"):
        data_recipes._gunzipped(b"not gzip")


def test_a_package_comes_through_its_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for npm on the path, which leaves the archive where npm would."""
    tape = tarball(tmp_path / "digits.tgz", {"package/data/a": b"123"})
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\n[ "$1 $4" = "pack digits" ] && cp {tape} digits-1.0.tgz\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/bin:/usr/bin")
    assert unpacked(Package("npm", "digits", {"package/data/a": 3})) == {"package/data/a": b"123"}
    with pytest.raises(MissingPart, match="npm package letters could not be downloaded"):
        unpacked(Package("npm", "letters", {}))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPart, match="needs the program npm"):
        unpacked(Package("npm", "digits", {}))


def test_a_program_that_hangs_or_fails_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match=r"Too bad: no end after 0\.2 s"):
        run(["sleep", "60"], tmp_path, "Too bad", seconds=0.2)
    with pytest.raises(MissingPart, match="Too bad: last words"):
        run(
            ["sh", "-c", "echo first >&2; echo last words >&2; exit 3"],
            tmp_path,
            "Too bad",
        )
    with pytest.raises(MissingPart, match="exit code 4"):
        run(["sh", "-c", "exit 4"], tmp_path, "Too bad")


def test_arrays_are_stored_whole_and_known_by_their_values(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "texts.npz"
    save(path, TEXTS)
    assert [entry.name for entry in path.parent.iterdir()] == ["texts.npz"]
    assert digest(load(path)) == digest(TEXTS)
    np.savez_compressed(tmp_path / "packed.npz", **TEXTS)
    assert digest(load(tmp_path / "packed.npz")) == digest(TEXTS)
    assert digest({**TEXTS, "labels": TEXTS["labels"][::-1]}) != digest(TEXTS)


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "texts.npz").mkdir()
    (tmp_path / "texts.npz" / "in the way").touch()
    with pytest.raises(StorageError, match=r"texts\.npz cannot be used"):
        save(tmp_path / "texts.npz", TEXTS)
    assert [path.name for path in tmp_path.iterdir()] == ["texts.npz"]


def test_a_wrong_file_is_recognised_by_its_contents(tmp_path: Path) -> None:
    shapes = DATASETS["newswire"].shapes
    path = tmp_path / "newswire.npz"
    save(path, TEXTS)
    assert complaint(path, shapes) == ""
    save(path, {**TEXTS, "labels": TEXTS["labels"].astype(np.int64)})
    assert "holds labels as int64(3,), not as uint8" in complaint(path, shapes)
    save(path, {"tokens": TEXTS["tokens"]})
    assert "holds no array offsets" in complaint(path, shapes)
    path.write_bytes(b"PK\x03\x04 torn")
    assert "cannot be read" in complaint(path, shapes)
    np.savez(path, tokens=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="cannot be read as arrays"):
        load(path)


def test_data_is_looked_for_in_the_named_folder_first(tmp_path: Path) -> None:
    here = {"REENACT_DATA": str(tmp_path)}
    assert data_folder(here) == tmp_path
    missing = locate(["reuters", "newswire"], here)
    assert missing.path is None
    assert "newswire.npz is neither in REENACT_DATA nor in the cache" in missing.why_not
    save(tmp_path / "newswire.npz", TEXTS)
    assert locate(["reuters", "newswire"], here).label == "newswire (stand-in)"
    save(tmp_path / "reuters.npz", TEXTS)
    assert locate(["reuters", "newswire"], here).label == "Reuters"
    assert provide(["newswire"], here).path == tmp_path / "newswire.npz"


def test_a_wrong_file_in_the_folder_is_no_data(tmp_path: Path) -> None:
    save(tmp_path / "mnist.npz", TEXTS)
    found = locate(["mnist"], {"REENACT_DATA": str(tmp_path)})
    assert found.path is None
    assert "mnist.npz holds no array x_train" in found.why_not


def test_the_cache_is_the_second_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REENACT_CACHE_DIR", str(tmp_path / "cache"))
    save(tmp_path / "cache" / "datasets" / "newswire.npz", TEXTS)
    assert locate(["newswire"], {}).path == tmp_path / "cache" / "datasets" / "newswire.npz"
    assert locate(["newswire"], {"REENACT_DATA": str(tmp_path)}).path is not None


def test_what_cannot_be_had_is_named(tmp_path: Path) -> None:
    for name, why in NOWHERE.items():
        assert locate([name], {"REENACT_DATA": str(tmp_path)}).why_not == why
    with pytest.raises(InputError, match="There is no data set mnits"):
        locate(["mnits"])
    with pytest.raises(MissingPart, match="stand-in") as caught:
        fetch("newswire", {"REENACT_DATA": str(tmp_path)})
    assert "REENACT_DATA" in caught.value.next_step


def test_events_come_from_the_users_table(tmp_path: Path) -> None:
    here = {"REENACT_DATA": str(tmp_path)}
    with pytest.raises(MissingPart, match="in no package"):
        fetch("higgs", here)
    columns = ",".join(f"c{number}" for number in range(31))
    rows = "\n".join(f"{row},{','.join(['1.5'] * 31)},{'sb'[row % 2]}" for row in range(10_000))
    (tmp_path / "training.csv").write_text(f"EventId,{columns},Label\n{rows}\n")
    path = fetch("higgs", here)
    assert load(path)["y"][:4].tolist() == [0, 1, 0, 1]
    assert not check(path, DATASETS["higgs"])
    assert fetch("higgs", here) == path


def test_values_that_are_not_the_data_set_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package of the right name and shape with other contents."""
    with zipfile.ZipFile(tmp_path / "fake.whl", "w") as box:
        box.writestr("sklearn/datasets/data/iris.csv", b"header\n" + b"1,1,1,1,0\n" * 150)
    pip = tmp_path / "pip.py"
    pip.write_text(f"import shutil; shutil.copy({str(tmp_path / 'fake.whl')!r}, 'scikit.whl')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(InputError, match="other values than iris; it was not kept"):
        fetch("iris", {"REENACT_DATA": str(tmp_path / "data")})
    with zipfile.ZipFile(tmp_path / "fake.whl", "w") as box:
        box.writestr(
            "sklearn/datasets/data/iris.csv",
            b"header\n" + b"one,two,three,four,five\n" * 150,
        )
    with pytest.raises(
        InputError, match="The pip package scikit-learn is damaged: could not convert"
    ):
        fetch("iris", {"REENACT_DATA": str(tmp_path / "data")})
    assert not (tmp_path / "data").exists()


def test_the_verb_says_what_is_there_and_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REENACT_DATA", str(tmp_path))
    arguments = ["newswire", "--output-format", "json"]
    result = CliRunner().invoke(fetch_verb, arguments, standalone_mode=False)
    assert result.return_value == ExitCode.FOUND
    assert json.loads(result.stdout)["verdict"] == "fetch: 0 of 1 data sets are there"
