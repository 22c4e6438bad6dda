"""requirements.txt proven in a fresh environment: what it lists is installed, nothing else, and the
script is judged there.
"""

from dataclasses import replace

from reenact.bug.environment import as_environment
from reenact.bug.generate import Case
from reenact.bug.repro.facts import facts_from
from reenact.bug.repro.judged import Judgement, judged
from reenact.bug.reproduction import Reproduction
from reenact.errors import ReenactError, Stopped
from reenact.sandbox.environments.names import Allowed, ProposedBy, requirements_in
from reenact.sandbox.environments.prepare import Environments


def requirements_proven(
    found: Reproduction, text: str, case: Case, environments: Environments | None
) -> str:
    """What came of it, as a note. May use the network."""
    if environments is None:
        return "requirements.txt was not proven: no environment can be built here."
    builder = environments
    if isinstance(environments, Environments):
        builder = replace(environments, backend="cpu")
    wanted = requirements_in(text, ProposedBy.USER)
    try:
        made = builder.prepare(wanted, Allowed.usual(*case.options.packages))
    except Stopped:
        raise
    except ReenactError as error:
        return f"requirements.txt cannot be installed: {error.sentence}"
    fresh = replace(case.runner, environment=as_environment(made, case.buggy.files))
    one = judged(found.repro, facts_from(found.facts), case.buggy, fresh)
    if one.judgement is Judgement.SHOWS:
        return "requirements.txt was installed in a fresh environment, and the bug shows there."
    return f"requirements.txt does not suffice: in a fresh environment, {one.sentence}"
