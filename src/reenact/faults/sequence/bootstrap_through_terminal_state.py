"""SQ06 bootstrap-through-terminal-state

What
    A program notes where episodes end, and the target of its value function is the reward and the discounted
    value of the next state all the same: the end enters no target.
Why
    After the last state there is nothing to come. A value that is added there teaches that failing costs
    nothing.
Symptom
    Values grow towards reward / (1 - discount) in every state; the policy does not learn to avoid the end.
Example
    import torch
    from torch import nn

    critic = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    gamma, memory = 0.9, []
    for step in range(200):
        state, following = torch.randn(4), torch.randn(4)
        memory.append((state, following, following.sum(), following[0] > 0))
    for update in range(40):
        states, following, rewards, dones = map(torch.stack, zip(*memory))
        with torch.no_grad():
            target = rewards + gamma * critic(following).squeeze(-1)
        loss = (critic(states).squeeze(-1) - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
Instead
    -         target = rewards + gamma * critic(following).squeeze(-1)
    +         target = rewards + gamma * critic(following).squeeze(-1) * (~dones).float()
Fix safety
    Unsafe: it changes what is trained. The value is multiplied by what the end leaves of it; whether an end
    is a time limit, after which there is a value, is known to the author.
Sources
    Sutton and Barto, "Reinforcement Learning", 2018, section 6.1; Pardo et al., "Time Limits in
    Reinforcement Learning", ICML 2018.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.fixes.sequence import end_of_episode
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.value_targets import targets_without_ends

FAULT = Fault(
    code="SQ06",
    name="bootstrap-through-terminal-state",
    category=Category.SEQUENCE,
    page=__doc__,
)


@FAULT.detector(
    "RE059",
    "bootstrap-through-terminal",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="After the last state of an episode there is no value to add.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def bootstrap_through_terminal(detector: Detector, evidence: Evidence) -> Findings:
    """A program notes where episodes end, and the target of its value function is the reward and
    the discounted value of the next state all the same: the end enters no target.

    Sutton and Barto, "Reinforcement Learning", 2018, section 6.1; Pardo et al., "Time Limits in
    Reinforcement Learning", ICML 2018.
    """
    for node, ends in targets_without_ends(evidence.files)[:1]:
        saw = f"{excerpt(node)}: no end of an episode enters, though the program notes them"
        yield detector.finding(
            evidence,
            saw,
            fixes=end_of_episode(evidence, node, ends),
            place=place_of(node),
        )
