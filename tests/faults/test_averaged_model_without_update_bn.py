"""RE067: averages of weights whose batch normalisation keeps statistics of other weights, beside those that
have none, or got their own."""

from __future__ import annotations

import pytest

from reenact.faults.evaluation.averaged_model_without_update_bn import statistics_of_other_weights
from reenact.testing.faults import findings

IMPORTS = "import torch\nfrom torch import nn\nfrom torch.optim.swa_utils import AveragedModel\n"
MODEL = "model = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))\n"
MADE = "averaged = AveragedModel(model)\n"
TRAINED = "for x, y in loader:\n    averaged.update_parameters(model)\n"
JUDGED = "averaged.eval()\nscores = averaged(held)\n"
WHOLE = IMPORTS + MODEL + MADE + TRAINED + JUDGED
OWN_CLASSES = (
    "class Block(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.a = nn.BatchNorm2d(4)\n"
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.blocks = nn.Sequential(*[Block() for _ in range(2)])\n"
    "model = Net().to('cpu')\n"
)
WEIGHTS_ALONE = (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.a = nn.Linear(8, 3)\n"
    "        for one in self.modules():\n"
    "            if isinstance(one, (nn.Linear, nn.BatchNorm1d)):\n"
    "                nn.init.ones_(one.weight)\n"
    "model = Net()\n"
)
FORGOTTEN = {
    "as the documentation has it": (WHOLE, 5),
    "under other names": (
        (
            "import torch.optim.swa_utils as q\n"
            "import torch.nn as w\n"
            "a = w.Sequential(w.Linear(8, 4), w.BatchNorm1d(4))\n"
            "b = q.AveragedModel(a)\n"
            "b.update_parameters(a)\n"
            "b.eval()\n"
            "c = b(d)\n"
        ),
        4,
    ),
    "update_bn is spoken of": (
        WHOLE + "# update_bn(loader, averaged)\nprint('update_bn')\n",
        5,
    ),
    "update_bn is imported alone": (
        WHOLE + "from torch.optim.swa_utils import update_bn\n",
        5,
    ),
    "a function of the program with its name": (
        WHOLE + "def update_bn(rows, net):\n    pass\nupdate_bn(loader, averaged)\n",
        5,
    ),
    "another thing with a name of the framework": (
        WHOLE + "class Replay:\n    buffers = []\nReplay().buffers.append(1)\n",
        5,
    ),
    "on a device": (
        WHOLE.replace(MADE, "averaged = AveragedModel(model).to('cpu')\n"),
        5,
    ),
    "an exponential average": (
        WHOLE.replace("(model)\nfor", "(model, avg_fn=ema, use_buffers=False)\nfor"),
        5,
    ),
    "train(False)": (WHOLE.replace("eval()", "train(False)"), 5),
    "on a device later": (
        WHOLE.replace(MADE, MADE + "averaged = averaged.to('cpu')\n"),
        5,
    ),
    "a model that is wrapped": (
        WHOLE.replace(MADE, "model = nn.DataParallel(model)\n" + MADE),
        6,
    ),
    "a model that is an argument": (
        IMPORTS
        + "def train(net):\n"
        + "    averaged = AveragedModel(net)\n"
        + "    averaged.update_parameters(net)\n"
        + "    return averaged\n"
        + MODEL
        + "averaged = train(model)\n"
        + JUDGED,
        5,
    ),
    "what it wraps": (WHOLE.replace("averaged(held)", "averaged.module(held)"), 5),
    "a function that evaluates": (
        IMPORTS
        + MODEL
        + MADE
        + TRAINED
        + "def judge(net):\n    net.eval()\n    return net(held)\njudge(averaged)\n",
        5,
    ),
    "a method that evaluates": (
        (
            IMPORTS + "class Run:\n"
            "    def __init__(self):\n"
            "        self.net = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4))\n"
            "        self.mean = AveragedModel(self.net)\n"
            "    def fit(self):\n"
            "        self.mean.update_parameters(self.net)\n"
            "    def judge(self, rows):\n"
            "        self.mean.eval()\n"
            "        return self.mean(rows)\n"
        ),
        7,
    ),
    "blocks of the program": (WHOLE.replace(MODEL, OWN_CLASSES), 13),
    "a model of torchvision": (
        WHOLE.replace(MODEL, "import torchvision\nmodel = torchvision.models.resnet18()\n"),
        6,
    ),
    "a class that is handed on": (
        WHOLE.replace(MODEL, "def make(norm):\n    return norm(4)\nmodel = make(nn.BatchNorm1d)\n"),
        7,
    ),
}
SOUND = {
    "update_bn": WHOLE.replace(
        "averaged.eval()", "torch.optim.swa_utils.update_bn(loader, averaged)\naveraged.eval()"
    ),
    "update_bn under another name": WHOLE
    + "from torch.optim.swa_utils import update_bn as fresh\nfresh(loader, averaged)\n",
    "statistics that are averaged": WHOLE.replace("Model(model)", "Model(model, use_buffers=True)"),
    "statistics averaged by position": WHOLE.replace(
        "Model(model)", "Model(model, None, None, None, True)"
    ),
    "statistics that may be averaged": WHOLE.replace(
        "Model(model)", "Model(model, use_buffers=args.all)"
    ),
    "options that are unknown": WHOLE.replace("Model(model)", "Model(model, **options)"),
    "no batch normalisation": WHOLE.replace("BatchNorm1d", "LayerNorm"),
    "batch normalisation that is asked for, not made": WHOLE.replace(MODEL, WEIGHTS_ALONE),
    "batch normalisation of another model": WHOLE.replace(
        MODEL, "model = nn.Linear(8, 3)\nteacher = nn.BatchNorm1d(8)\n"
    ),
    "no running statistics": WHOLE.replace(
        "BatchNorm1d(4)", "BatchNorm1d(4, track_running_stats=False)"
    ),
    "layers turned into synchronous ones": WHOLE.replace(
        MODEL, "model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Linear(8, 3))\n"
    ),
    "a model of torchvision without": WHOLE.replace(
        MODEL, "import torchvision\nmodel = torchvision.models.vgg16()\n"
    ),
    "never evaluated": WHOLE.replace("averaged.eval()\n", ""),
    "never asked": WHOLE.replace("scores = averaged(held)\n", ""),
    "only the model is evaluated": WHOLE.replace(JUDGED, "model.eval()\nscores = model(held)\n"),
    "nothing is averaged": WHOLE.replace("    averaged.update_parameters(model)", "    pass"),
    "a pass in training mode": WHOLE.replace(
        "averaged.eval()", "averaged.train()\nout = averaged(x)\naveraged.eval()"
    ),
    "a pass for the statistics": WHOLE.replace("averaged.eval()", "averaged(x)\naveraged.eval()"),
    "statistics that are copied": WHOLE.replace(
        "averaged.eval()",
        "for a, b in zip(averaged.buffers(), model.buffers()):\n    a.copy_(b)\naveraged.eval()",
    ),
    "statistics that are made again": WHOLE.replace(
        "averaged.eval()",
        "for one in averaged.modules():\n    renew(one)\naveraged.eval()",
    ),
    "a function that renews the statistics": WHOLE.replace(
        "averaged.eval()", "renew(averaged)\naveraged.eval()"
    )
    + "def renew(net):\n    net.train()\n    for x, y in loader:\n        out = net(x)\n",
    "an average that is loaded": WHOLE.replace(
        "averaged.eval()", "averaged.load_state_dict(torch.load('a.pt'))\naveraged.eval()"
    ),
    "a library that may update": WHOLE + "import lab\nlab.prepare(averaged)\n",
    "a class of another library": WHOLE.replace("torch.optim.swa_utils", "lab"),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_statistics_of_other_weights_are_placed_where_the_average_is_made(name: str) -> None:
    text, line = FORGOTTEN[name]
    assert [
        one.place.line
        for one in findings(statistics_of_other_weights, text)
        if one.place is not None
    ] == [line]


@pytest.mark.parametrize("name", SOUND)
def test_averages_without_statistics_or_with_their_own_are_left_alone(name: str) -> None:
    assert SOUND[name] != WHOLE
    assert findings(statistics_of_other_weights, SOUND[name]) == ()


LAYERS = ("BatchNorm2d", "LazyBatchNorm1d", "SyncBatchNorm")
READY = (
    "densenet121",
    "efficientnet_b0",
    "googlenet",
    "inception_v3",
    "mnasnet1_0",
    "mobilenet_v3_small",
    "regnet_y_400mf",
    "resnet50",
    "resnext50_32x4d",
    "shufflenet_v2_x1_0",
    "vgg16_bn",
    "wide_resnet50_2",
)
"""Models of torchvision with batch normalisation, one of each kind."""


@pytest.mark.parametrize("layer", LAYERS)
def test_every_batch_normalisation_keeps_statistics(layer: str) -> None:
    assert len(findings(statistics_of_other_weights, WHOLE.replace("BatchNorm1d", layer))) == 1


@pytest.mark.parametrize("layer", ["GroupNorm", "InstanceNorm1d", "Dropout"])
def test_update_bn_would_not_change_other_layers(layer: str) -> None:
    assert findings(statistics_of_other_weights, WHOLE.replace("BatchNorm1d", layer)) == ()


@pytest.mark.parametrize("name", READY)
def test_models_of_torchvision_with_batch_normalisation(name: str) -> None:
    made = f"from torchvision.models import {name}\nmodel = {name}()\n"
    assert len(findings(statistics_of_other_weights, WHOLE.replace(MODEL, made))) == 1


@pytest.mark.parametrize("name", ["alexnet", "convnext_tiny", "swin_t", "vit_b_16"])
def test_models_of_torchvision_without(name: str) -> None:
    made = f"from torchvision.models import {name}\nmodel = {name}()\n"
    assert findings(statistics_of_other_weights, WHOLE.replace(MODEL, made)) == ()
