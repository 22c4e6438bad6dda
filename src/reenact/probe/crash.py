"""The exception that ended a program: its class, its frames, and the values at its place.

What happened is decided by these facts. The message is what its author wrote: words in it decide
only next to the class and the function that raised.
"""

from dataclasses import dataclass, field

from reenact.types import Place

PROGRAM = "program"
PROBE = "probe"
PYTHON = "python"
"""Whose a frame is; anything else is the name of a package."""


@dataclass(frozen=True, slots=True)
class LayerInput:
    """What a layer was given when it raised."""

    shape: tuple[int, ...]
    dtype: str
    device: str


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor that took part in the call that raised."""

    name: str
    """As it is written in the call."""
    shape: tuple[int, ...]
    dtype: str
    device: str
    minimum: int | None = None
    maximum: int | None = None
    """Of whole numbers on the CPU."""

    @property
    def kind(self) -> str:
        """The type of its numbers without the name of the library."""
        return self.dtype.rpartition(".")[2]

    @property
    def words(self) -> str:
        return f"{self.name} {self.kind} {self.shape}"


@dataclass(frozen=True, slots=True)
class CrashFrame:
    """One frame of the traceback."""

    file: str
    line: int
    function: str
    module: str
    owner: str
    """`program`, `probe`, `python` for the standard library, or the name of a package."""


@dataclass(frozen=True, slots=True)
class CudaFacts:
    """What the torch of the program could compute on."""

    build: str
    """The version of CUDA that it was built for; empty for a build without."""
    available: bool


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The kind of device that the call which raised was given."""

    asked: str
    available: bool


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """Bytes, where they are known."""

    asked: int | None = None
    used: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class CrashFacts:
    """What was noted inside the program when it ended."""

    module: str = ""
    """Of the exception's class."""
    stack: tuple[CrashFrame, ...] = ()
    """Outermost first."""
    raised: bool = False
    """Whether the innermost frame raised by a statement of its own; else what it called did."""
    by: str = ""
    """Whose code raised: `program`, `python`, or a package."""
    call: str = ""
    """Name of the function that was called by the innermost frame, and raised."""
    operands: tuple[Operand, ...] = ()
    """Tensors that this call was given."""
    unexpected: tuple[str, ...] = ()
    """Keywords that it does not take."""
    errno: int | None = None
    folder_exists: bool | None = None
    """Whether the folder of a missing file is there."""
    nearest: str = ""
    """The name in that folder that is most like the missing one."""
    variable: str = ""
    """The environment variable that was asked for and is not set."""
    unset: tuple[str, ...] = ()
    """Variables that a launcher of several processes sets, and that were not set."""
    cuda: CudaFacts | None = None
    device: DeviceFacts | None = None
    memory: MemoryFacts | None = None
    subject: str = ""
    """The package of the object or module that lacks a name."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of the packages that took part."""
    exit_code: int | None = None
    of_none: bool = False
    """Whether None was asked for an attribute."""
    keys: tuple[str, ...] = ()
    """Names that a dictionary has which was asked for another one."""
    argument: int | None = None
    """The position in `sys.argv` that was read and that nothing was given for."""
    empty_data: str = ""
    """Class of a data set that has no rows."""
    missing_arguments: tuple[str, ...] = ()
    """Required arguments of the command line that were not given, as they would be typed."""

    @property
    def inner(self) -> CrashFrame | None:
        """The frame that raised, or that called what raised; the probe only hands on."""
        for frame in reversed(self.stack):
            if frame.owner != PROBE:
                return frame
        return None

    @property
    def library_frame(self) -> CrashFrame | None:
        """The innermost frame of a package."""
        others = (PROGRAM, PROBE, PYTHON)
        for frame in reversed(self.stack):
            if frame.owner not in others:
                return frame
        return None

    @property
    def own(self) -> bool:
        """Whether the program raised the exception itself."""
        return self.raised and self.by == PROGRAM


@dataclass(frozen=True, slots=True)
class Crash:
    """The exception that ended a program."""

    type: str
    message: str
    place: Place | None
    """The innermost line of the user's own code."""
    source: str
    """The text of that line."""
    frames: tuple[str, ...]
    """The traceback, outermost first, without the probe: `file:line in function`."""
    bases: tuple[str, ...] = ()
    """Names of the exception's class and its bases."""
    missing_file: str = ""
    layer: str = ""
    """Class of the layer whose forward pass raised, when one did."""
    layer_place: Place | None = None
    layer_inputs: tuple[LayerInput, ...] = ()
    layer_dtype: str = ""
    """Type of its weights."""
    facts: CrashFacts = field(default_factory=CrashFacts)
    """Empty in traces that earlier versions wrote."""

    def is_a(self, *names: str) -> bool:
        """Whether its class, or a base of it, has one of these names."""
        known = {self.type, *self.bases}
        return not known.isdisjoint(names)
