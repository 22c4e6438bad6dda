"""What Ray is started with, so that neither a shared folder nor the current one decides what its
workers run.

Ray keeps a cluster's sockets, logs and state in `ray` of the temporary folder, which it opens to
every local user, and puts the folder that a driver works in first on the import path of every
worker: a `reenact.py` or `json.py` there would run with the user's rights.

Covered: a cluster of our own has a folder in one that we make, mode 0700; of a driver's import path
workers get nothing, here or on a cluster that was joined by `host:port`. Not covered: a cluster
that the user started (its folder and its import path are as its owner made them), and who else can
reach a cluster's ports: that is Ray's token (RAY_AUTH_MODE).
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from reenact.errors import MissingPart

CLIENT = "ray://"
_LONGEST_PATH = 107 - len("/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store")
"""What the kernel allows for the path of a socket, less what Ray puts after its folder."""
_FITS_NO_SOCKET = "Set RAY_TMPDIR to a folder of yours with a short path."


def own_folder() -> Path:
    """A new folder for a cluster of ours: no one else may enter it. Raises MissingPart."""
    place = os.environ.get("RAY_TMPDIR") or (
        "/tmp" if sys.platform == "darwin" else tempfile.gettempdir()  # noqa: S108
    )
    made = Path(
        tempfile.mkdtemp(
            prefix="ray-",
            dir=Path(place).absolute(),
        )
    )
    if len(str(made / "ray")) > _LONGEST_PATH:
        made.rmdir()
        why = f"The path of the temporary folder is too long for Ray's sockets. Received: {place}."
        raise MissingPart(why, next_step=_FITS_NO_SOCKET)
    return made


def start_options(
    ray: Any, address: str, workers: int | None, folder: Path | None
) -> dict[str, Any]:
    """The arguments of `ray.init`. `folder` is the one for a cluster of ours."""
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address:
        options["address"] = address
    else:
        # Ray opens the folder that it is given, so that is one below ours.
        options |= {
            "address": "local",
            "include_dashboard": False,
            "_temp_dir": f"{folder}/ray",
        }
        if workers is not None:
            options["num_cpus"] = workers
    if not address.startswith(CLIENT):
        options["job_config"] = _without_import_path(ray)
    return options


def import_path(config: Any) -> list[str]:
    """What of the driver's import path the workers get."""
    return list(config._py_driver_sys_path)


def _without_import_path(ray: Any) -> Any:
    """The settings of a driver whose folders are not put on the import path of its workers."""
    config = ray.job_config.JobConfig()
    # Ray has no public setting for it. With a folder of its own for the workers it puts neither the
    # current folder nor that of the script first; ours need no such folder.
    config._runtime_env_has_working_dir = lambda: True
    return config
