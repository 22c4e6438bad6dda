"""OU06 wrong-sign-in-loss

What
    What goes backward is the negative of the loss, a policy gradient without its minus sign, or a KL
    divergence with the wrong one.
Why
    An optimizer lowers what it is given. A loss of the wrong sign is raised; the probability of actions
    that pay is lowered.
Symptom
    The loss falls without end while everything gets worse; the return falls below that of random play.
Example
    import torch
    from torch.distributions import Categorical

    policy = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    for episode in range(100):
        states, returns = torch.randn(8, 4), torch.randn(8)
        draws = Categorical(logits=policy(states))
        log_probs = draws.log_prob(draws.sample())
        loss = (log_probs * returns).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
Instead
    -     loss = (log_probs * returns).mean()
    +     loss = -(log_probs * returns).mean()
Fix safety
    There is nothing to change automatically: look at the signs of the terms of the loss.
Sources
    Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning",
    1992 (REINFORCE climbs); Sutton and Barto, "Reinforcement Learning", section 13.3.
"""

import ast
import re
from collections.abc import Iterator

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.divergence import NAMED, divergences, terms
from reenact.faults.facts.flow import stores
from reenact.faults.facts.lines import indexes, place_in, value_of
from reenact.faults.facts.parts import (
    called,
    is_call,
    is_sum,
    last_word,
    owner_of,
    subject_of,
    within,
    written,
)
from reenact.program.syntax.index import FileIndex

NEAR = 0.1
LOG_PROBABILITY = re.compile(
    r"log_?p(?:rob|i)?s?\b|log_?probs?|\.log_prob\(|(?:\b|_)lps?\b", re.IGNORECASE
)
REWARD = re.compile(
    r"(?i)advantage|\badvs?\b|return|reward|\bdelta|td_error|\bG\b|discount|\brets?\b"
)
NEGATIVE = r"(?:logp\w*|log_probs?|adv\w*|returns?|rewards?)\s*=\s*-"
"""Factors of a policy gradient that are given the minus sign themselves."""
REDUCED = ("mean", "sum")
ADVANTAGE = re.compile(r"^adv", re.IGNORECASE)
EXPECTED = re.compile(
    r"^(?:self\.)?(?:values?|baselines?|critic|v|vals?|state_values?)\b", re.IGNORECASE
)
RETURNED = re.compile(r"return|reward|\brets?\b|target|\bG\b|discount", re.IGNORECASE)
SAME = re.compile(r"pos|(?:^|_)ap\b", re.IGNORECASE)
OTHER = re.compile(r"neg|(?:^|_)an\b", re.IGNORECASE)
DISTANCE = re.compile(
    r"dist|norm\(|pow\(2\)|\*\* ?2|square\(|(?:^|\W)d_?(?:pos|neg|ap|an)", re.IGNORECASE
)
LIKENESS = re.compile(r"cos|sim|@|matmul|einsum|dot\(|score|logit", re.IGNORECASE)
MARGIN = re.compile(r"^(?:self\.)?\w*(?:margin|alpha)\w*$|^[\d.e-]+$", re.IGNORECASE)
HINGES = ("relu", "clamp", "clamp_min", "clip", "maximum", "softplus", "max")
"""What cuts a difference off below zero."""
GENERATOR = re.compile(
    r"^(?:loss_?g|l_?g|g_?loss|err_?g|gen\w*_loss|loss_gen\w*|g_adv\w*)$", re.IGNORECASE
)
FAULT = Fault(
    code="OU06",
    name="wrong-sign-in-loss",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE049",
    "wrong-sign",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="An optimizer lowers what it is given: here the wrong thing.",
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def wrong_sign(detector: Detector, evidence: Evidence) -> Findings:
    """What goes backward is the negative of the loss, a policy gradient without its minus sign, or
    a KL divergence with the wrong one.

    Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement
    learning", 1992 (REINFORCE climbs); Sutton and Barto, "Reinforcement Learning", section 13.3.
    """
    if _mirrored(evidence):
        saw = "what goes backward is the negative of the loss on these labels"
        place = evidence.loss.place if evidence.loss is not None else None
        yield detector.finding(
            evidence, saw, place=place, kind=Kind.LOSS, certainty=Certainty.PROOF
        )
        return
    for index in indexes(evidence):
        looks = (_below_zero, _entropy_lowered, _pairs_reversed, _found_out)
        for term, saw in (pair for look in looks for pair in look(index)):
            yield detector.finding(
                evidence,
                saw,
                place=place_in(index, term),
            )
        reversed_here = list(_reversed(index))
        raised = list(_raised(index))
        fault = "is above zero for actions that did worse than expected"
        fault = "is lowered: there is no minus sign" if raised else fault
        # Two wrong signs make a right one.
        for node in () if reversed_here and raised else (*reversed_here, *raised):
            yield detector.finding(
                evidence,
                f"{ast.unparse(node)[:60]} {fault}",
                place=place_in(index, node),
            )


def _mirrored(evidence: Evidence) -> bool:
    """Whether the loss of most looked-at steps is minus the loss by our own arithmetic."""
    if evidence.trace is None or evidence.optimizers > 1:
        return False
    steps = evidence.trace.steps
    pairs = zip(steps["loss"].tolist(), steps["label_loss"].tolist(), strict=True)
    both = [(loss, own) for loss, own in pairs if loss == loss and own > 0]
    return len(both) >= 3 and sum(abs(loss + own) < NEAR * own for loss, own in both) > 0.9 * len(
        both
    )


def _raised(index: FileIndex) -> Iterator[ast.Assign]:
    """Assignments of a policy loss that nothing negates."""
    if "maximize=True" in index.text or not any(called(call) == "backward" for call in index.calls):
        return
    for node in (one for one in within(index.tree, ast.Assign) if len(one.targets) == 1):
        value = node.value
        name = written(node.targets[0])
        added = [term for sign, term in terms(value) if sign > 0] if "loss" in name.lower() else []
        raised = any(_is_policy_gradient(index, term) for term in added)
        negated = raised and any(isinstance(one.op, ast.USub) for one in within(value, ast.UnaryOp))
        later = rf"-\s*(?:1(?:\.0)?\s*\*\s*)?{re.escape(name)}\b|{NEGATIVE}"
        if raised and not negated and not re.search(later, index.text):
            yield node


def _reversed(index: FileIndex) -> Iterator[ast.Assign]:
    """Advantages that are expected values less returns, in a program whose policy loss has its
    minus.
    """
    for node in (one for one in within(index.tree, ast.Assign) if len(one.targets) == 1):
        value = node.value
        while is_call(value, "detach", "flatten", "squeeze", "reshape", "view"):
            value = owner_of(value) or value.args[0]
        if ADVANTAGE.search(last_word(node.targets[0])) and is_sum(value, ast.Sub):
            left = ast.unparse(value.left)
            right = ast.unparse(value.right)
            if EXPECTED.search(left) and RETURNED.search(right) and not RETURNED.search(left):
                yield node


def _entropy_lowered(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Losses of a policy to which its entropy is added: lowered with the loss, nothing is tried
    any more.
    """
    if (
        "log_prob" not in index.text
        or not REWARD.search(index.text)
        or "maximize=True" in index.text
    ):
        return
    for node in (
        one for one in within(index.tree, ast.Assign) if "loss" in written(one.targets[0])
    ):
        signed = list(terms(node.value))
        for sign, term in signed if len(signed) > 1 else ():
            meant = f"{ast.unparse(term)} {_meanings(index, term)}"
            if sign > 0 and ".entropy()" in meant and "-" not in meant:
                saw = (
                    f"{ast.unparse(term)[:60]} is added to the loss: the policy's entropy is "
                    f"minimised"
                )
                yield term, saw


def _meanings(index: FileIndex, term: ast.expr) -> str:
    return " ".join(ast.unparse(value_of(index, name)) for name in within(term, ast.Name))


def _pairs_reversed(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Losses of triplets that pull the negative closer: by their distances, by their likeness, or by
    the order in which a loss of torch is given them.
    """
    losses = {"triplet_margin_loss", "triplet_margin_with_distance_loss"}
    for target, value in stores(index.tree):
        if is_call(value, "TripletMarginLoss", "TripletMarginWithDistanceLoss"):
            losses.add(last_word(target))
    for call in (one for one in index.calls if called(one) in losses and len(one.args) == 3):
        given = [ast.unparse(one) for one in call.args]
        if OTHER.search(given[1]) and SAME.search(given[2]):
            yield (
                call,
                f"{called(call)} is given the negative where it wants the positive",
            )
    for node in within(index.tree, ast.BinOp):
        above = index.parents.get(node)
        cut = index.parents.get(above) if isinstance(above, ast.Attribute) else above
        if not is_call(cut, *HINGES) or is_sum(above, ast.Add, ast.Sub):
            continue
        texts = ((sign, ast.unparse(term)) for sign, term in terms(node))
        parts = {sign: text for sign, text in texts if not MARGIN.search(text)}
        meant = " ".join(
            (
                *parts.values(),
                _meanings(index, node),
            )
        )
        far = bool(DISTANCE.search(meant))
        near = bool(LIKENESS.search(meant))
        raised, lowered = (OTHER, SAME) if far else (SAME, OTHER)
        apart = len(parts) == 2 and raised.search(parts[1]) and lowered.search(parts[-1])
        if far != near and apart:
            yield (
                node,
                f"{ast.unparse(node)[:60]} is minimised: that pulls the negative closer",
            )


def _found_out(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Losses of a generator that ask the discriminator to find out what it made."""
    steps = {written(owner_of(call) or call) for call in index.calls if called(call) == "step"}
    made = within(index.tree, ast.Assign) if len(steps) > 1 else ()
    for node in (one for one in made if GENERATOR.search(written(one.targets[0]))):
        judged = [call for call in within(node.value, ast.Call) if len(call.args) == 2]
        labels = [
            value_of(index, one.args[1])
            for one in judged
            if not isinstance(one.args[1], ast.Constant)
        ]
        fake = [is_call(label, "zeros", "zeros_like", "new_zeros") for label in labels]
        plain = not any(isinstance(one.op, ast.USub) for one in within(node.value, ast.UnaryOp))
        if fake and all(fake) and plain:
            loss = ast.unparse(node.value)[:60]
            yield (
                node.value,
                f"{loss} is minimised: the generator learns to be recognised as fake",
            )


def _below_zero(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Divergences of the wrong sign that nothing subtracts or negates later."""
    if "elbo" in index.text.lower() or "maximize=True" in index.text:
        return
    negative = [one.node for one in divergences(index) if not one.positive]
    taken = [one.right for one in within(index.tree, ast.BinOp) if isinstance(one.op, ast.Sub)]
    taken += [
        one.operand for one in within(index.tree, ast.UnaryOp) if isinstance(one.op, ast.USub)
    ]
    if negative and not any(NAMED.search(ast.unparse(one)) for one in taken):
        for term in negative:
            yield (
                term,
                f"{ast.unparse(term)[:60]} is added: this divergence is never above zero",
            )


def _is_policy_gradient(index: FileIndex, value: ast.expr) -> bool:
    """`(log_prob * advantage).mean()`, or the smaller of two such products as PPO takes it."""
    if is_call(value, *REDUCED):
        value = subject_of(value, ("torch",)) or value
    if is_call(value, "min", "minimum") and len(value.args) == 2:
        value = value_of(index, value.args[0])
    if not is_sum(value, ast.Mult):
        return False
    left, right = (
        f"{ast.unparse(side)} {_meaning(index, side)}" for side in (value.left, value.right)
    )
    sides = ((left, right), (right, left))
    return any(LOG_PROBABILITY.search(one) and REWARD.search(other) for one, other in sides)


def _meaning(index: FileIndex, side: ast.expr) -> str:
    """What a factor was made of, two assignments back."""
    made = value_of(index, side)
    roots = list(within(made, ast.Name)) if made is not side else []
    return " ".join(
        [
            ast.unparse(made),
            *(ast.unparse(value_of(index, root)) for root in roots[:1]),
        ]
    )
