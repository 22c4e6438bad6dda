"""Prepared environments: virtual environments built once, with the network, for runs that have none.

    environments = Environments(cache, box=sandbox)
    made = environments.prepare(requirements_in(text, ProposedBy.REPOSITORY), Allowed.usual())
    sandbox.run(Command((made.python, "train.py"), mounts=made.mounts), Limits())

The key of an environment is the hash of the resolved packages and the interpreter. One that is there is
complete: it is built next to its place, by one process at a time, and renamed. The same request is resolved
once.
"""

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from packaging.utils import canonicalize_name

from reenact.errors import InputError, ReenactError, SandboxUnavailable, Stopped
from reenact.sandbox.box import MIB, Mount, Sandbox
from reenact.sandbox.disk import tree_usage
from reenact.sandbox.environments import install, stored
from reenact.sandbox.environments.installer_settings import constraints
from reenact.sandbox.environments.intact import check_interpreter
from reenact.sandbox.environments.interpreters import pythons_here
from reenact.sandbox.environments.names import Allowed, Requirement, without_version
from reenact.sandbox.environments.source import build_wheel, download, find_source
from reenact.sandbox.environments.stored import (
    Environment,
    Interpreter,
    ask_interpreter,
    hash_of,
    locked,
)
from reenact.sandbox.files.cleanup import remove_tree
from reenact.types import Progress, Stop, Tell, tell_nobody

_MOST_BUILDS = 20
Resolved: TypeAlias = tuple[install.Wish, tuple[str, ...]]


@dataclass
class Environments:
    """All prepared environments below one cache folder."""

    cache: Path
    box: Sandbox | None = None
    """Where source distributions are built; without one they are refused."""
    installer: install.Installer | None = None
    """Found when none is given: uv, else pip."""
    tell: Tell = tell_nobody
    stop: Stop | None = None
    python: str = sys.executable
    """The interpreter to build for."""
    backend: str = ""
    """The build of torch to install (`cpu`), where its index can be reached; empty: what the
    index gives.
    """
    most_bytes: int = 20 * 1024 * MIB
    """What all environments may take on the disk; those not used for longest make way."""

    def prepare(
        self,
        requirements: tuple[Requirement, ...],
        allowed: Allowed,
        *,
        exclude_newer: date | None = None,
        any_version: bool = False,
    ) -> Environment:
        """The environment with these packages, built when it is not there yet. May use the network.

        `any_version` takes another version of a package that has no wheel as it was asked for and
        cannot be built.
        """
        allowed.check(requirements)
        wish = install.Wish(requirements, self.python, exclude_newer)
        interpreter = ask_interpreter(self.python)
        texts = sorted(item.text for item in requirements)
        how = filter(
            None,
            [self.backend, "any version" if any_version else ""],
        )
        asked = hash_of(
            interpreter,
            exclude_newer,
            constraints(),
            *how,
            *texts,
        )
        memo = self._folder("requests") / f"{asked}.json"
        with (
            locked(memo.with_suffix(".lock"), self.tell, self.stop),
            TemporaryDirectory() as wheels,
        ):
            known = self._remembered(memo, interpreter)
            if known is not None:
                return known
            store = None
            if self._installer().name == "uv":
                store = self._folder("uv")
            wish = replace(wish, built=Path(wheels), store=store)
            wish, pins = self._resolve(wish, allowed, any_version=any_version)
            made = self._build(pins, wish, interpreter)
            for rubbish in memo.parent.glob(f"{memo.stem}.half-*"):
                rubbish.unlink(missing_ok=True)
            half = memo.with_suffix(f".half-{secrets.token_hex(4)}")
            half.write_text(json.dumps({"key": made.key}))
            half.replace(memo)
        self.prune(keep=made.key)
        return made

    def stored(self, key: str) -> Environment | None:
        """The environment of that name, where it is in the cache and built for an interpreter of
        this machine.
        """
        for interpreter in self._interpreters():
            found = stored.read_environment(self.cache, key, interpreter)
            if found is not None:
                stored.mark_used(found.folder)
                return found
        return None

    def _interpreters(self) -> Iterator[Interpreter]:
        """Those that environments may have been built for; the own one first."""
        yield ask_interpreter(self.python)
        for python in pythons_here(self.cache / "pythons"):
            yield ask_interpreter(python)

    def listing(self) -> tuple[Environment, ...]:
        """All complete environments in the cache that were built for interpreters of this
        machine.
        """
        if not self.cache.is_dir():
            return ()
        interpreters = tuple(dict.fromkeys(self._interpreters()))
        found: dict[str, Environment] = {}
        for key in sorted(folder.name for folder in self.cache.iterdir()):
            for interpreter in interpreters:
                one = stored.read_environment(self.cache, key, interpreter)
                if one is not None:
                    found.setdefault(key, one)
        return tuple(found.values())

    def prune(
        self,
        most_bytes: int | None = None,
        *,
        keep: str = "",
    ) -> tuple[Environment, ...]:
        """Remove the environments that were not used for longest until the rest fits; what was
        removed.

        Files that several environments share are counted, and freed, once.
        """
        most = self.most_bytes if most_bytes is None else most_bytes
        removed: list[Environment] = []
        by_use = sorted(
            self.listing(),
            key=lambda one: stored.last_used(one.folder),
        )
        for oldest in (one for one in by_use if one.key != keep):
            if self.disk_bytes() <= most:
                break
            with self._store_locked():
                remove_tree(oldest.folder)
                self._forget_unlinked()
            removed.append(oldest)
            self._say(
                f"removed an environment of {oldest.size_bytes / 1e6:.0f} MB, to stay below the cap"
            )
        return tuple(removed)

    def disk_bytes(self) -> int:
        """What the whole cache takes on the disk."""
        if self.cache.is_dir():
            return tree_usage(self.cache, sys.maxsize).bytes
        return 0

    def _forget_unlinked(self) -> None:
        """Remove packages of the installer's cache that no environment links to any more."""
        store = self.cache / "uv"
        installer = self._installer()
        idle: list[str] = []
        for package in store.glob("archive-v0/*"):
            files = (Path(folder) / name for folder, _, names in os.walk(package) for name in names)
            if all(file.lstat().st_nlink == 1 for file in files):
                for info in package.glob("*.dist-info"):
                    idle.append(info.name.partition("-")[0])
        if idle and isinstance(installer, install.Uv):
            installer.forget(
                sorted(set(idle)),
                store,
                self.stop,
            )

    def _store_locked(self, *, shared: bool = False) -> AbstractContextManager[None]:
        """While packages are linked from the installer's cache, no one may remove them from it.
        `shared`: to link them, which several may do at once.
        """
        why = "another process removes old environments"
        if not shared:
            why = "another process installs packages"
        return locked(
            self.cache / "uv.lock",
            self.tell,
            self.stop,
            shared=shared,
            why=why,
        )

    def _clear_leftovers(self) -> None:
        """Remove what killed builds left: halves whose lock no one holds."""
        for half in (*self.cache.glob("half-*"), *self.cache.glob("wheels/half-*")):
            key = half.name.split("-")[1]
            with (
                suppress(OSError),
                open(
                    half.with_name(f"{key}.lock"),
                    "ab",
                    opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o600),
                ) as lock,
            ):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(half)

    def _with_backend(
        self,
        wish: install.Wish,
        pins: tuple[str, ...],
    ) -> Resolved:
        """The same packages with the wanted build of torch, where torch is among them and that
        can be had.
        """
        if (
            not self.backend
            or wish.store is None
            or not any(pin.startswith("torch==") for pin in pins)
        ):
            return wish, pins
        wanted = replace(wish, backend=self.backend)
        try:
            return wanted, self._installer().resolve(wanted, self.stop)
        except (install.NoWheel, ReenactError) as error:
            if isinstance(error, Stopped):
                raise
            self._say(
                f"no {self.backend} build of torch can be had; the newest build at hand is taken"
            )
            return wish, pins

    def _resolve(
        self,
        wish: install.Wish,
        allowed: Allowed,
        *,
        any_version: bool,
    ) -> Resolved:
        """The packages, and the wish that they fulfil: with fewer versions where a build failed."""
        installer = self._installer()
        for _ in range(_MOST_BUILDS):
            self._say(f"resolving {len(wish.requirements)} requirements with {installer.name}")
            try:
                return self._with_backend(wish, installer.resolve(wish, self.stop))
            except install.NoWheel as lacking:
                name = canonicalize_name(lacking.name)
            try:
                self._from_source(name, wish, allowed)
            except Stopped:
                raise
            except ReenactError:
                asked = (
                    without_version(one) if one.name == name else one for one in wish.requirements
                )
                freed = replace(wish, requirements=tuple(asked))
                if not any_version or freed == wish:
                    raise
                self._say(f"{name} cannot be built here; looking for a wheel of another version")
                wish = freed
        raise InputError(
            f"More than {_MOST_BUILDS} packages have no wheel; that is too many to build."
        )

    def _from_source(
        self,
        name: str,
        wish: install.Wish,
        allowed: Allowed,
    ) -> None:
        """Build a wheel of a package that has none, into the folder of the wish."""
        asked = next(
            (item.text for item in wish.requirements if item.name == name),
            name,
        )
        source = find_source(
            name,
            asked.partition(";")[0],
            wish.exclude_newer,
            self.stop,
        )
        content = download(source)
        digest = hashlib.sha256(content).hexdigest()
        store = self._folder("wheels") / hash_of(ask_interpreter(self.python), digest)
        if not store.is_dir():
            self._say(f"building {source.name} {source.version} from source in a box")
            file, wheel = build_wheel(
                source,
                content=content,
                box=self.box,
                prepare=partial(self._for_build, allowed),
                stop=self.stop,
            )
            with locked(store.with_suffix(".lock"), self.tell, self.stop):
                half = store.with_name(f"half-{store.name}-{secrets.token_hex(4)}")
                half.mkdir()
                (half / file).write_bytes(wheel)
                if not store.is_dir():
                    half.rename(store)
                remove_tree(half)
        for wheel_file in store.iterdir():
            if wish.built is None or (wish.built / wheel_file.name).exists():
                raise InputError(
                    f"The package {name} was built from source, but what was built does not fit."
                )
            shutil.copy(wheel_file, wish.built)

    def _for_build(
        self, allowed: Allowed, needed: tuple[Requirement, ...]
    ) -> tuple[str, tuple[Mount, ...]]:
        """An environment for a build, from wheels alone."""
        try:
            made = replace(self, box=None).prepare(needed, allowed)
        except SandboxUnavailable as error:
            listed = ", ".join(item.text for item in needed)
            raise InputError(
                f"A build needs packages that have no wheel themselves: {listed}."
            ) from error
        return made.python, made.mounts

    def _build(
        self,
        pins: tuple[str, ...],
        wish: install.Wish,
        interpreter: Interpreter,
    ) -> Environment:
        # Wheels of our own making have no index to vouch for them: their bytes are part of the key.
        built = []
        if wish.built is not None:
            built = sorted(wish.built.iterdir())
        self._clear_leftovers()
        hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in built]
        key = hash_of(interpreter, *pins, *hashes)[:32]
        with locked(
            self.cache / f"{key}.lock",
            self.tell,
            self.stop,
        ):
            there = stored.read_environment(self.cache, key, interpreter)
            if there is not None:
                return there
            for rubbish in (
                *self.cache.glob(f"half-{key}-*"),
                self.cache / key,
            ):
                remove_tree(rubbish)
            self._say(f"installing {len(pins)} packages with {self._installer().name}")
            half = self.cache / f"half-{key}-{secrets.token_hex(4)}"
            try:
                with self._store_locked(shared=True):
                    self._installer().install(pins, half, wish, self.stop)
                check_interpreter(half, self.python)
                install.compile_sources(self.python, half, self.stop)
                stored.finish(half, self.cache / key, pins, interpreter)
                half.rename(self.cache / key)
            except BaseException:
                remove_tree(half)
                raise
        made = stored.read_environment(self.cache, key, interpreter)
        if made is None:
            raise ReenactError(f"The environment {key} vanished while it was being made.")
        self._say(f"ready: {made.size_bytes / 1e6:.0f} MB")
        return made

    def _remembered(self, memo: Path, interpreter: Interpreter) -> Environment | None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            known = stored.read_environment(
                self.cache, str(json.loads(memo.read_text())["key"]), interpreter
            )
            if known is not None:
                stored.mark_used(known.folder)
            return known
        return None

    def _installer(self) -> install.Installer:
        if self.installer is None:
            self.installer = install.find_installer()
        return self.installer

    def _folder(self, name: str) -> Path:
        folder = self.cache / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _say(self, note: str) -> None:
        self.tell(Progress("environment", note=note))
