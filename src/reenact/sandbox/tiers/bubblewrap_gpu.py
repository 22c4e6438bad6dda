"""bubblewrap with the GPU of this machine in view: wider than the usual tier, and never chosen unasked.

The device files are there to be read and written, because that is how programs call the driver. All
else is as in `bubblewrap`.
"""

import os

from reenact.sandbox import gpu
from reenact.sandbox.box import Command
from reenact.sandbox.gpu import Gpu
from reenact.sandbox.tiers.bubblewrap import Bubblewrap

NO_GPU = "There is no NVIDIA GPU on this machine (no /dev/nvidia0)."
NO_DRIVER = f"The NVIDIA driver's library {gpu.LIBRARY} is not on this machine."


class BubblewrapGpu(Bubblewrap):
    """Bubblewrap whose programs may use the GPU."""

    name = "bubblewrap-gpu"

    def __init__(self, program: str | None = None, *, shown: Gpu | None = None) -> None:
        """`shown` is what boxes see of the GPU, else looked up."""
        super().__init__(program)
        self._gpu = shown if shown is not None else gpu.find_gpu()

    def missing(self) -> str:
        if not self._gpu.devices:
            return NO_GPU
        if not self._gpu.libraries:
            return NO_DRIVER
        return super().missing()

    def does_not_stop(self) -> tuple[str, ...]:
        return (
            *super().does_not_stop(),
            "bugs in the GPU's driver, which runs in the kernel and which a program calls directly",
            "use of the GPU's memory and time: there is no limit on either",
            "reading what other programs left in the GPU's memory, as far as the driver lets it",
        )

    def more_words(self) -> list[str]:
        words: list[str] = []
        for device in self._gpu.devices:
            words += ["--dev-bind", device, device]
        for folder in self._gpu.binds:
            words += ["--ro-bind", folder, folder]
        return words

    def variables(self, command: Command) -> dict[str, str]:
        """With the driver's libraries where a program looks for them."""
        given = super().variables(command)
        folders = [given.get("LD_LIBRARY_PATH", ""), *self._gpu.libraries]
        return {**given, "LD_LIBRARY_PATH": os.pathsep.join(filter(None, folders))}
