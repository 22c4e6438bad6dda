"""Faults in ways that people write them: a sign, a tie, a mask, rows and labels that part; each beside a
sound one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_evidence import QUANTITIES, event, findings_in, graph, seen, trace
from reenact.faults.observation import Certainty
from reenact.probe.trace import Behaviour, Experiments, Metric, Overlap
from reenact.program.graph import Layer, TaskType, WeightFacts

STEPS = [1.0] * 20


def lines(code: str, text: str) -> list[int]:
    return [
        one.place.line
        for one in findings_in(code, seen(trace(STEPS), text))
        if one.place is not None
    ]


def test_an_entropy_that_is_lowered_with_the_loss_of_a_policy() -> None:
    text = (
        "logp = dist.log_prob(a)\nent = {ent}\nloss = -(logp * advantage).mean() {sign} 0.01 * "
        "ent\nloss.backward()\n"
    )
    plain, negative = "dist.entropy().mean()", "-dist.entropy().mean()"
    for sign, ent, count in (("+", plain, 1), ("-", plain, 0), ("+", negative, 0)):
        assert lines("RE049", text.format(sign=sign, ent=ent)) == [3] * count


PLAIN_GRADIENT = """
log_probs, advantage = rollout(policy)
loss = {sign}({first} * {second}).mean() - 0.01 * entropy
loss.backward()
"""
SPLIT_GRADIENT = """
def gained(chosen, weight, spread):
    return {sign}(chosen * weight).mean() - 0.01 * spread
log_probs, advantage = rollout(policy)
loss = gained({first}, {second}, entropy)
loss.backward()
"""
SEVERAL_RESULTS = """
class Agent:
    def losses(self, chosen, weight):
        actor = {sign}(chosen * weight).mean()
        return actor, critic(chosen)
log_probs, advantage = rollout(policy)
actor_loss, value_loss = agent.losses({first}, {second})
(actor_loss + 0.5 * value_loss).backward()
"""
ROLLOUT = """
def rollout(policy):
    draws = policy(states)
    return draws.log_prob(actions), returns - returns.mean()
"""


@pytest.mark.parametrize(
    ("text", "line"), [(PLAIN_GRADIENT, 7), (SPLIT_GRADIENT, 7), (SEVERAL_RESULTS, 8)]
)
def test_a_policy_gradient_is_looked_at_in_the_function_that_makes_it(text: str, line: int) -> None:
    def reported(sign: str, first: str = "log_probs", second: str = "advantage") -> list[int]:
        return lines("RE049", ROLLOUT + text.format(sign=sign, first=first, second=second))

    assert reported("") == [line]
    assert reported("-") == []
    assert reported("", second="(-advantage)") == []
    assert reported("", first="states") == []


def test_the_sign_of_a_function_may_stand_where_it_is_called() -> None:
    text = SPLIT_GRADIENT.format(sign="", first="log_probs", second="advantage")
    for call, found in (("gained(", [7]), ("-gained(", []), ("value_loss - gained(", [])):
        assert lines("RE049", ROLLOUT + text.replace("loss = gained(", f"loss = {call}")) == found


def test_an_entropy_that_a_function_lowers() -> None:
    text = (
        "def actor(logp, weight, spread):\n    return -(logp * weight).mean() {sign} 0.01 * spread\n"
        "loss = actor(dist.log_prob(a), advantage, dist.entropy().mean())\nloss.backward()\n"
    )
    for sign, found in (("+", [2]), ("-", [])):
        assert lines("RE049", text.format(sign=sign)) == found


GAN = """
bce = nn.BCELoss()
d_loss = bce(D(x), torch.ones(64, 1)) + bce(D(fake.detach()), torch.zeros(64, 1))
d_loss.backward(); opt_d.step()
g_loss = {sign}bce(D(G(torch.randn(64, 8))), torch.{label}(64, 1))
g_loss.backward(); opt_g.step()
"""


def test_a_generator_that_learns_to_be_found_out() -> None:
    for sign, label, count in (("", "zeros", 1), ("", "ones", 0), ("-", "zeros", 0)):
        assert lines("RE049", GAN.format(sign=sign, label=label)) == [5] * count


def test_a_mismatch_that_pytorch_itself_warns_of() -> None:
    warned = (
        "Using a target size (torch.Size([{}])) that is different to the input size "
        "(torch.Size([{}]))."
    )
    for target, output, count in (("32, 32", "32, 1", 1), ("1", "32, 1", 0)):
        events = (event("warning", message=warned.format(target, output)),)
        assert len(findings_in("RE033", seen(trace(STEPS, events=events)))) == count


DROPS = """{comment}
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.kept = layers.{layer}()
    def call(self, x, training=None):
        return self.kept(x, training={training})
"""


def test_a_model_of_keras_that_normalises_by_its_batch_whenever_it_is_asked() -> None:
    dropped = Layer("drop", "Dropout", None, ((None, 8),), (None, 8), None, {"rate": 0.5}, ())
    plain = graph(TaskType.MULTI_CLASS, "cross_entropy", 3, framework="keras")
    run = trace(STEPS, graph=replace(plain, layers=(dropped, *plain.layers)))
    for comment, layer, training, count in (
        ("", "BatchNormalization", "True", 1),
        ("# on purpose", "BatchNormalization", "True", 1),
        ("", "BatchNormalization", "training", 0),
        ("", "Dropout", "True", 0),
    ):
        text = DROPS.format(comment=comment, layer=layer, training=training)
        found = findings_in("RE011", seen(run, text))
        assert [one.place.line for one in found if one.place is not None] == [7] * count


WINDOWS = """
def make(series, width):
    xs = []
    for i in range({range}):
        xs.append(series[i:i + width])
    return np.array(xs)
wins = make(series, 24)
{split}
for epoch in range(3):
    for i in torch.randperm(len(train)).split(32):
        step(train[i])
"""


@pytest.mark.parametrize(
    ("steps", "split", "fires"),
    [
        (
            "len(series) - width",
            "train, test = train_test_split(wins, test_size=0.2)",
            True,
        ),
        (
            "len(series) - width",
            "order = rng.permutation(len(wins)); train = wins[order[:80]]",
            True,
        ),
        (
            "len(series) - width",
            "train, test = train_test_split(wins, shuffle=False)",
            False,
        ),
        ("len(series) - width", "train, test = wins[:80], wins[104:]", False),
        (
            "0, len(series), width",
            "train, test = train_test_split(wins, test_size=0.2)",
            False,
        ),
    ],
)
def test_windows_that_overlap_and_are_split_by_chance(steps: str, split: str, fires: bool) -> None:
    assert lines("RE018", WINDOWS.format(range=steps, split=split)) == [8] * fires


def test_dropout_of_nothing_has_no_mode() -> None:
    for rate, count in ((0.5, 1), (0.0, 0)):
        dropped = Layer("drop", "Dropout", None, ((None, 8),), (None, 8), None, {"p": rate}, ())
        plain = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
        events = tuple(event("evaluation", training=True, learns=True) for _ in range(4))
        run = trace(STEPS, graph=replace(plain, layers=(dropped, *plain.layers)), events=events)
        assert len(findings_in("RE011", seen(run))) == count


def test_a_decoder_that_begins_with_a_copy_of_its_encoder() -> None:
    def coded(name: str, shape: tuple[int, int], largest: float) -> Layer:
        weight = WeightFacts("weight", shape, True, 0.01, 0.2, -0.4, largest, f"{name}.weight")
        return Layer(name, "Linear", None, ((None, 8),), (None, 8), None, {}, (weight,))

    for largest, count in ((0.41, 1), (0.42, 0)):
        layers = (coded("enc", (3, 8), 0.41), coded("dec", (8, 3), largest))
        run = trace(STEPS, graph=replace(graph(TaskType.REGRESSION, "mse", 8), layers=layers))
        assert len(findings_in("RE050", seen(run))) == count


def test_labels_of_pairs_that_lie_off_the_diagonal() -> None:
    text = "labels = {labels}\nloss = F.cross_entropy(s, labels) + F.cross_entropy(s.t(), labels)\n"
    for labels, count in (("rows % 50", 1), ("torch.arange(len(s))", 0)):
        assert lines("RE053", text.format(labels=labels)) == [1] * count


def test_classes_that_are_fitted_as_numbers_and_rounded() -> None:
    labels = replace(QUANTITIES, integral=True, classes=4, class_values=(0, 1, 2, 3))
    made = graph(TaskType.REGRESSION, "mse", 1)
    for score, text, count in (
        (0.3, "acc = (p.round() == y)", 1),
        (0.9, "acc = (p.round() == y)", 0),
        (0.3, "", 0),
    ):
        metrics = (Metric("val_accuracy", score, 19, 1, 1.0, "output"),)
        run = trace(STEPS, graph=made, data=(labels,), metrics=metrics)
        found = findings_in("RE003", seen(run, f"import torch\n{text}\n"))
        assert len(found) == count


GRU = """
class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(24, 48, batch_first=True)
    def forward(self, ids):
        out, _ = self.gru(self.emb(ids))
        return self.fc(out[:, -1])
"""


def test_padding_that_moves_what_a_recurrent_layer_says_in_the_end() -> None:
    for moved, count in ((0.3, 1), (0.02, 0)):
        tested = (
            Behaviour("Rnn", padding=0.5),
            Behaviour("Rnn", at_end=True, padding=moved),
        )
        found = findings_in("RE036", seen(trace(STEPS), GRU, Experiments(behaviour=tested)))
        assert [one.place.line for one in found if one.place is not None] == [8] * count


TIED = """
class Model(nn.Module):
    def __init__(self):
        self.words = nn.Embedding(12, 8)
        self.logits = nn.Linear(8, 12, bias=False)
        self.logits.weight = self.words.weight
        self.apply(self.reset)
    def reset(self, module):
        module.weight = nn.Parameter(torch.randn(module.weight.shape))
"""


def test_a_tie_that_is_lost_before_the_training_begins() -> None:
    def shown(name: str, kind: str, path: str, largest: float) -> Layer:
        weight = WeightFacts("weight", (12, 8), True, 0.01, 0.2, -0.4, largest, path)
        return Layer(name, kind, None, ((None, 8),), (None, 8), None, {}, (weight,))

    for path, count in (("logits.weight", 1), ("words.weight", 0)):
        layers = (
            shown("words", "Embedding", "words.weight", 0.4),
            shown("logits", "Linear", path, 0.5),
        )
        run = trace(
            STEPS,
            graph=replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), layers=layers),
        )
        found = findings_in("RE050", seen(run, TIED))
        assert [one.place.line for one in found if one.place is not None] == [9] * count
    # pytorch/examples' word_language_model ties on demand: where nothing parts the two, it was not
    # asked for.
    apart = (
        shown("words", "Embedding", "words.weight", 0.4),
        shown("logits", "Linear", "logits.weight", 0.5),
    )
    run = trace(
        STEPS,
        graph=replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), layers=apart),
    )
    kept = TIED[: TIED.index("        self.apply")]
    tie = "        self.logits.weight = self.words.weight\n"
    asked, started = ("        if tied:", 0), ("        if __name__ == '__main__':", 1)
    conditions = [
        (kept.replace(tie, f"{words}\n    {tie}"), count) for words, count in (asked, started)
    ]
    for text, count in ((kept, 1), *conditions):
        assert len(findings_in("RE050", seen(run, text))) == count


def test_a_mask_of_numbers_hides_nothing() -> None:
    text = "pad = (places > lengths){kind}\nx = encoder(x, src_key_padding_mask=pad)\n"
    tried = Experiments(behaviour=(Behaviour("Net"),))
    for kind, count in ((".float()", 1), ("", 0)):
        found = findings_in("RE036", seen(trace(STEPS), text.format(kind=kind), tried))
        assert [one.place.line for one in found if one.place is not None] == [1] * count


def test_labels_that_are_repeated_in_another_order_than_their_rows() -> None:
    text = (
        "def two(x, y):\n    images = torch.cat([a(x), b(x)], 0)\n    return images, y.{repeated}\n"
    )
    for repeated, count in (("repeat_interleave(2)", 1), ("repeat(2)", 0)):
        assert lines("RE053", text.format(repeated=repeated)) == [3] * count


REPEATED = """
def balance(x, y):
    extra = rng.choice(few, 100)
    return np.concatenate([x, x[extra]]), np.concatenate([y, y[extra]])
{first}
{second}
"""


def test_rows_that_are_repeated_before_they_are_split() -> None:
    calls = ("x, y = balance(x, y)", "x, x_val, y, y_val = train_test_split(x, y)")
    overlap = Overlap("validation", 400, 40, complete=False)
    for (first, second), proven in ((calls, True), (calls[::-1], False)):
        run = trace(STEPS, overlaps=(overlap,))
        (found,) = findings_in("RE018", seen(run, REPEATED.format(first=first, second=second)))
        assert (found.certainty is Certainty.PROOF) is proven
