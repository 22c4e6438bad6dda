"""What the user of `reenact bug` may ask for."""

from dataclasses import dataclass, field

from reenact.types import Switches


@dataclass(frozen=True, slots=True)
class BugAblations(Switches):
    """Parts of the method that can be switched off."""

    restructuring: bool = True
    """Put the report in order before it is used."""
    plan: bool = True
    """Plan before the script is written."""
    static: bool = True
    """Check names, attributes and arguments against the project before running."""
    relevance: bool = True
    """Refuse scripts that do not exercise the project."""
    execution: bool = True
    """Run the script. Without it nothing is measured, and no verdict but `inconclusive` is
    possible.
    """
    dependencies: bool = True
    """Show the definitions that the found code depends on."""
    rerank: bool = True
    """Take a second look at the code that was found."""
    modules: bool = True
    """One context a module; else one for all of the project."""
    loops: bool = True
    """Look for training loops."""
    loop_order: bool = True
    """Order the training loops by relevance."""


@dataclass(frozen=True, slots=True)
class BugOptions:
    """What the user may ask for; every option has a default."""

    seeds: int = 5
    """How many seeds a script is run with."""
    contexts: int = 5
    """How many contexts are tried, best first."""
    attempts: int = 5
    """Scripts a context: the first one and its refinements."""
    samples: int = 1
    """First scripts a context, of which the most promising by outcome is refined."""
    context_tokens: int = 6000
    """Size of a context."""
    dense: bool = True
    """Rank code by meaning too, where the offline embedder is installed; else by words alone."""
    wall_s: float = 120.0
    """Seconds that one run of a script may take."""
    memory_mib: int = 4096
    """Memory that one run of a script may take."""
    minimise: bool = True
    """Make the script as short as the symptom allows."""
    minimise_runs: int = 40
    """Runs that making it shorter may take."""
    pytest: bool = False
    """Kept for older calls: a test is always written."""
    prove_requirements: bool = False
    """Install requirements.txt in a fresh environment, and judge the script there."""
    bisect: str = ""
    """Commits as GOOD..BAD, among which the one is looked for that brought the bug."""
    stubs: tuple[str, ...] = ()
    """Modules that may be replaced by empty ones when they are not installed. Only the user
    says so.
    """
    packages: tuple[str, ...] = ()
    """Packages that the report names and the user vouches for."""
    requirements: tuple[str, ...] = ()
    """Packages to install besides those of the repository."""
    environment: str = "auto"
    """auto: this interpreter's packages where they satisfy the repository, else built; here;
    build.
    """
    cause: bool = True
    """Look for the lines that are suspected, by running variants of the project."""
    patch: bool = False
    """Ask the model for a patch, and keep one that passes."""
    gpu: bool = False
    """Scripts may use the GPU of this machine, in a sandbox that shows it."""
    diagnose: bool = False
    """After a silent bug: read the project's training programs with the rules of `reenact
    diagnose`.
    """
    parts: BugAblations = field(default_factory=BugAblations)
