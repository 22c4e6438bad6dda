"""Faults in ways that people write them: a sign, a tie, a penalty, a step that comes to nothing; each beside
a sound one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from made_evidence import QUANTITIES, event, findings_in, graph, seen, trace
from reenact.probe.trace import Behaviour, Columns, Experiments, Metric, Overlap, OwnRate, ParameterFacts
from reenact.program.graph import Layer, OptimizerFacts, TaskType, WeightFacts
from reenact.rules.finding import Certainty

STEPS = [1.0] * 20


def lines(code: str, text: str) -> list[int]:
    return [one.place.line for one in findings_in(code, seen(trace(STEPS), text)) if one.place is not None]


TRIPLETS = """
def triplet_loss(anchor, positive, negative, margin=0.2):
    pos = F.{compared}(anchor, positive)
    neg = F.{compared}(anchor, negative)
    return F.relu({difference} + margin).mean()
"""


@pytest.mark.parametrize(
    ("compared", "difference", "fires"),
    [
        ("cosine_similarity", "pos - neg", True),
        ("cosine_similarity", "neg - pos", False),
        ("pairwise_distance", "neg - pos", True),
        ("pairwise_distance", "pos - neg", False),
    ],
)
def test_a_triplet_that_draws_the_negative_near(compared: str, difference: str, fires: bool) -> None:
    assert lines("RE049", TRIPLETS.format(compared=compared, difference=difference)) == [5] * fires


def test_the_order_in_which_a_loss_of_triplets_is_given_them() -> None:
    for given, count in (("a, neg, pos", 1), ("a, pos, neg", 0)):
        assert lines("RE049", f"far = nn.TripletMarginLoss()\nloss = far({given})\n") == [2] * count


def test_an_entropy_that_is_lowered_with_the_loss_of_a_policy() -> None:
    text = "logp = dist.log_prob(a)\nent = {ent}\nloss = -(logp * advantage).mean() {sign} 0.01 * ent\n"
    plain, negative = "dist.entropy().mean()", "-dist.entropy().mean()"
    for sign, ent, count in (("+", plain, 1), ("-", plain, 0), ("+", negative, 0)):
        assert lines("RE049", text.format(sign=sign, ent=ent)) == [3] * count


GAN = """
d_loss = bce(D(x), torch.ones(64, 1)) + bce(D(fake.detach()), torch.zeros(64, 1))
d_loss.backward(); opt_d.step()
g_loss = {sign}bce(D(G(torch.randn(64, 8))), torch.{label}(64, 1))
g_loss.backward(); opt_g.step()
"""


def test_a_generator_that_learns_to_be_found_out() -> None:
    for sign, label, count in (("", "zeros", 1), ("", "ones", 0), ("-", "zeros", 0)):
        assert lines("RE049", GAN.format(sign=sign, label=label)) == [4] * count


def test_a_mismatch_that_pytorch_itself_warns_of() -> None:
    warned = "Using a target size (torch.Size([{}])) that is different to the input size (torch.Size([{}]))."
    for target, output, count in (("32, 32", "32, 1", 1), ("1", "32, 1", 0)):
        events = (event("warning", message=warned.format(target, output)),)
        assert len(findings_in("RE033", seen(trace(STEPS, events=events)))) == count


DROPS = """{comment}
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.drop = layers.Dropout(0.5)
    def call(self, x, training=None):
        return self.drop(x, training={training})
"""


def test_a_model_of_keras_that_drops_whenever_it_is_asked() -> None:
    dropped = Layer("drop", "Dropout", None, ((None, 8),), (None, 8), None, {"rate": 0.5}, ())
    plain = graph(TaskType.MULTI_CLASS, "cross_entropy", 3, framework="keras")
    run = trace(STEPS, graph=replace(plain, layers=(dropped, *plain.layers)))
    for comment, training, count in (("", "True", 1), ("", "training", 0), ("# MC dropout", "True", 0)):
        found = findings_in("RE011", seen(run, DROPS.format(comment=comment, training=training)))
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
        ("len(series) - width", "train, test = train_test_split(wins, test_size=0.2)", True),
        ("len(series) - width", "order = rng.permutation(len(wins)); train = wins[order[:80]]", True),
        ("len(series) - width", "train, test = train_test_split(wins, shuffle=False)", False),
        ("len(series) - width", "train, test = wins[:80], wins[104:]", False),
        ("0, len(series), width", "train, test = train_test_split(wins, test_size=0.2)", False),
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


SIAMESE = """
class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(8, 4))
        self.right = {right}
        self.towers = nn.ModuleList({towers})
    def forward(self, a, b):
        return {given}
"""
APART = "self.left(a), self.right(b)"
LISTED = "self.towers[0](a), self.towers[1](b)"


@pytest.mark.parametrize(
    ("right", "towers", "given", "fires"),
    [
        ("copy.deepcopy(self.left)", "[]", APART, True),
        ("nn.Sequential(nn.Linear(8, 4))", "[]", APART, True),
        ("self.left", "[]", APART, False),
        ("nn.Sequential(nn.Linear(8, 4))", "[]", "self.left(a), self.left(b)", False),
        # Two critics of one input are two on purpose.
        ("nn.Sequential(nn.Linear(8, 4))", "[]", "self.left(a), self.right(a)", False),
        ("None", "[tower() for _ in range(2)]", LISTED, True),
        ("None", "[tower()] * 2", LISTED, False),
    ],
)
def test_two_networks_where_a_siamese_one_has_one(right: str, towers: str, given: str, fires: bool) -> None:
    assert lines("RE050", SIAMESE.format(right=right, towers=towers, given=given)) == [9] * fires


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


EMPTIED = """
for x, y in loader:
    loss = criterion(model(x), y)
    {first}
    {second}
    {third}
"""


@pytest.mark.parametrize(
    ("calls", "fires"),
    [
        (("loss.backward()", "opt.zero_grad()", "opt.step()"), True),
        (("scaler.scale(loss).backward()", "opt.zero_grad()", "scaler.step(opt)"), True),
        (("loss.backward()", "opt.step()", "opt.zero_grad()"), False),
        (("opt.zero_grad()", "loss.backward()", "opt.step()"), False),
        (("loss.backward()", "other.zero_grad()", "opt.step()"), False),
    ],
)
def test_gradients_that_are_gone_before_the_step(calls: tuple[str, str, str], fires: bool) -> None:
    first, second, third = calls
    assert lines("RE013", EMPTIED.format(first=first, second=second, third=third)) == [5] * fires


def test_gradients_of_a_network_that_died_say_nothing_of_who_clears_them() -> None:
    columns = ("step", "optimizer", "carried", "grad_norm", "loss")
    for carried, count in ((1, 1), (0, 0)):
        lived = [[step, 0, carried if step else 0, 1.0, 2.3] for step in range(10)]
        died = [[step, 0, 0, 0.0, 2.3] for step in range(10, 60)]
        run = trace([], steps=Columns(columns, np.array([*lived, *died], dtype=float)))
        assert len(findings_in("RE010", seen(run))) == count


def test_weights_that_are_let_go_after_the_optimizer_was_made() -> None:
    body = ParameterFacts("body.weight", (16, 8), False, False)
    for graded, count in ((True, 1), (False, 0)):
        facts = (ParameterFacts("0.weight", (3, 8), True, True), replace(body, graded=graded))
        run = trace(STEPS, parameter_facts=facts)
        found = findings_in("RE013", seen(run))
        assert ["never given" in one.saw for one in found] == [True] * count


def kernel(*rows: tuple[float, float], **more: object) -> dict[str, object]:
    """Sizes of the one kernel and how far a step moved it, at looked-at steps."""
    columns = ("step", "parameter", "weight_mean_abs", "update_ratio")
    table = np.array([[step, 0, size, moved] for step, (size, moved) in enumerate(rows)])
    return {"parameters": Columns(columns, table), **more}


PENALTY = """
reg = sum(p.pow(2).sum() for p in net.parameters())
loss = ce + 0.5 * reg
"""


def test_a_penalty_by_hand_that_leaves_nothing_of_the_weights() -> None:
    for last, count in ((0.001, 1), (0.09, 0)):
        run = trace([2.3] * 40, **kernel((0.1, 0.01), (last, 0.01)))
        found = findings_in("RE016", seen(run, PENALTY))
        assert [one.place.line for one in found if one.place is not None] == [3] * count


def test_a_decay_beside_which_no_adaptive_step_counts() -> None:
    for decay, count in ((20.0, 1), (0.1, 0)):
        optimizer = OptimizerFacts("AdamW", 0.001, {"weight_decay": decay}, None, 1)
        made = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=optimizer)
        run = trace([1.1 - 0.01 * step for step in range(40)], graph=made)
        assert len(findings_in("RE016", seen(run))) == count


def test_weights_in_half_precision_that_never_change() -> None:
    text = "net = net.half()\nopt = torch.optim.SGD(net.parameters(), 0.001)\n"
    for moved, count in ((0.0, 1), (1e-4, 0)):
        optimizer = OptimizerFacts("SGD", 0.001, {}, None, 1)
        made = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=optimizer)
        looks = kernel(*[(0.1, moved)] * 9, events=(event("half-precision"),), graph=made)
        run = trace([2.3] * 40, **looks)
        found = findings_in("RE057", seen(run, text))
        assert [one.place.line for one in found if one.place is not None] == [1] * count


def test_a_rate_that_is_too_high_though_something_was_learned() -> None:
    """One batch is learned wholly at a tenth of it, and by far not at the rate itself."""
    for last, count in ((0.4, 1), (0.05, 0)):
        course = (2.3, *[last] * 12)
        rates = OwnRate(0.001, (2.3, *[1.2] * 12), (2.3, *[0.01] * 12), (2.3, *[0.01] * 12))
        run = trace([*course[:1] * 10, *course[1:] * 10])
        found = findings_in("RE019", seen(run, tried=Experiments(own_rate=rates)))
        assert sum(one.certainty is Certainty.PROOF for one in found) == count


def test_steps_that_are_clipped_to_nothing_are_slow_whatever_was_learned() -> None:
    def clipped(loss: float) -> int:
        losses = np.linspace(2.3, loss, 40)
        columns = ("step", "loss", "accuracy", "clip_norm", "clip_limit")
        rows = [[step, one, 0.9, 1.0, 0.001] for step, one in enumerate(losses)]
        optimizer = OptimizerFacts("SGD", 0.1, {}, None, 1)
        made = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), optimizer=optimizer)
        run = trace([], steps=Columns(columns, np.array(rows)), graph=made)
        return len(findings_in("RE043", seen(run)))

    assert (clipped(1.9), clipped(0.3)) == (1, 0)


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
        tested = (Behaviour("Rnn", padding=0.5), Behaviour("Rnn", at_end=True, padding=moved))
        found = findings_in("RE036", seen(trace(STEPS), GRU, Experiments(behaviour=tested)))
        assert [one.place.line for one in found if one.place is not None] == [8] * count


def test_gradients_that_are_made_smaller_the_smaller_they_are() -> None:
    text = "factor = norm / limit\nfor p in weights:\n    p.grad.mul_(factor)\n"
    columns = ("step", "loss", "clip_norm", "clip_limit")

    def found(by_hand: bool) -> list[int]:
        norms = np.linspace(0.1, 1.0, 20)
        rows = [[step, 1.0, norm, norm * norm / 10 if by_hand else 0.05] for step, norm in enumerate(norms)]
        run = trace([], steps=Columns(columns, np.array(rows)))
        reported = findings_in("RE043", seen(run, text))
        return [one.place.line for one in reported if one.place is not None]

    assert (found(True), found(False)) == ([1], [])


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
        layers = (shown("words", "Embedding", "words.weight", 0.4), shown("logits", "Linear", path, 0.5))
        run = trace(STEPS, graph=replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 3), layers=layers))
        found = findings_in("RE050", seen(run, TIED))
        assert [one.place.line for one in found if one.place is not None] == [9] * count


def test_a_mask_of_numbers_hides_nothing() -> None:
    text = "pad = (places > lengths){kind}\nx = encoder(x, src_key_padding_mask=pad)\n"
    tried = Experiments(behaviour=(Behaviour("Net"),))
    for kind, count in ((".float()", 1), ("", 0)):
        found = findings_in("RE036", seen(trace(STEPS), text.format(kind=kind), tried))
        assert [one.place.line for one in found if one.place is not None] == [1] * count


def test_labels_that_are_repeated_in_another_order_than_their_rows() -> None:
    text = "def two(x, y):\n    images = torch.cat([a(x), b(x)], 0)\n    return images, y.{repeated}\n"
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


CENTRED = """
class Net(nn.Module):
    def forward(self, x):
        h = self.trunk(x)
        with torch.no_grad():
            h = h - self.center
        return self.head(h)
for x in loader:
    total += loss.detach()
"""


def test_a_block_without_gradients_that_leaves_its_result_to_the_rest() -> None:
    facts = (
        ParameterFacts("head.weight", (3, 8), True, True),
        ParameterFacts("trunk.weight", (8, 8), True, True),
    )
    columns = ("step", "parameter", "grad_present")
    rows = np.array([[step, number, number == 0] for step in range(12) for number in (0, 1)], dtype=float)
    run = trace(STEPS, parameter_facts=facts, parameters=Columns(columns, rows))
    found = findings_in("RE013", seen(run, CENTRED))
    assert [one.place.line for one in found if one.place is not None] == [5]
