"""Mistakes of the first ten minutes: each ends with the sentence that a colleague would say."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from warm import warm_reenact

pytestmark = pytest.mark.usefixtures("warm_python")

TRAINING = """
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""


@dataclass(frozen=True)
class Mistake:
    """A program that does not get to its training, the code of its finding and its sentence."""

    program: str
    code: str
    sentences: tuple[str, ...]
    place: int = 0
    """The line of the finding; 0 where it does not matter."""


MISTAKES = {
    "ddp without torchrun": Mistake(
        'import torch.distributed as group\n\ngroup.init_process_group("gloo")\n',
        "RE908",
        (
            "Start it with: reenact diagnose -- torchrun --nproc-per-node=2 program.py",
            "not set: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT",
        ),
        3,
    ),
    "variable of torchrun": Mistake(
        'import os\n\nplace = int(os.environ["LOCAL_RANK"])\n',
        "RE908",
        ("Start it with: reenact diagnose -- torchrun --nproc-per-node=2 program.py",),
        3,
    ),
    "variable of its own": Mistake(
        'import os\n\nfolder = os.environ["MY_DATA"]\n',
        "RE910",
        (
            (
                "The environment variable MY_DATA is not set. Set it: MY_DATA=VALUE reenact "
                "diagnose program.py"
            ),
        ),
        3,
    ),
    "no gpu": Mistake(
        'import os\n\nos.environ["CUDA_VISIBLE_DEVICES"] = ""\nimport torch\n\n'
        'weights = torch.ones(3, device="cuda")\n',
        "RE909",
        (
            'Use device = "cuda" if torch.cuda.is_available() else "cpu"',
            "reenact diagnose --python PATH program.py",
        ),
        6,
    ),
    "keyboard": Mistake(
        'rounds = int(input("How many? "))\n',
        "RE911",
        (
            (
                "Give the answers in a file (reenact diagnose program.py < answers.txt), or pass "
                "arguments."
            ),
        ),
        1,
    ),
    "arguments of argparse": Mistake(
        "import argparse\n\nreader = argparse.ArgumentParser()\n"
        'reader.add_argument("target")\nreader.add_argument("-d", "--data", required=True)\n'
        'reader.add_argument("--lr", type=float, default=0.1)\nreader.parse_args()\n',
        "RE912",
        (
            "program.py: error: the following arguments are required: target, -d/--data",
            "Start it with: reenact diagnose program.py --data DATA TARGET",
        ),
        7,
    ),
    "a value that argparse refuses": Mistake(
        "import argparse\n\nreader = argparse.ArgumentParser()\n"
        'reader.add_argument("--lr", type=float, default=0.1)\nreader.parse_args(["--lr", '
        '"fast"])\n',
        "RE912",
        (
            "error: argument --lr: invalid float value: 'fast'",
            "does not accept this command line",
        ),
        5,
    ),
    "arguments of click": Mistake(
        'import click\n\n\n@click.command()\n@click.option("--data", required=True)\n'
        "def main(data):\n    print(data)\n\n\nmain()\n",
        "RE912",
        (
            "Missing option '--data'",
            "Start it with: reenact diagnose program.py --data DATA",
        ),
        10,
    ),
    "missing file": Mistake(
        'from pathlib import Path\n\nprint(Path("data/trian.csv").read_text())\n',
        "RE906",
        ("data/trian.csv", "(the folder has train.csv)"),
        3,
    ),
    "missing folder": Mistake(
        'print(open("nowhere/train.csv").read())\n',
        "RE906",
        ("(its folder does not exist)",),
        1,
    ),
    "missing package": Mistake(
        "import a_package_that_nobody_has\n",
        "RE906",
        ("No module named 'a_package_that_nobody_has'", "Pass --python PATH"),
        1,
    ),
    "removed name": Mistake(
        "import numpy as numbers\n\nprint(numbers.float(3))\n",
        "RE907",
        ("; numpy ", " is installed"),
        3,
    ),
    "argument of another version": Mistake(
        "import torch\n\nweights = [torch.zeros(2, requires_grad=True)]\n"
        "torch.optim.SGD(weights, learning_rate=0.1)\n",
        "RE907",
        ("'learning_rate'; torch ", " is installed"),
        4,
    ),
    "out of memory": Mistake(
        'import numpy\n\npairs = numpy.zeros((10**6, 10**9), dtype="float32")\n',
        "RE905",
        (
            "asked for 4,000,000.0 GB, there are ",
            "This one array is larger than the memory",
        ),
        3,
    ),
    "out of memory in torch": Mistake(
        "import torch\n\npairs = torch.zeros((10**6, 10**9))\n",
        "RE905",
        ("asked for 4,000,000.0 GB",),
        3,
    ),
    "shape": Mistake(
        "import torch\n\nleft, right = torch.ones(4, 3), torch.ones(4, 3)\nprint(left @ right)\n",
        "RE901",
        ("(left float32 (4, 3) @ right float32 (4, 3))", "must agree, here 3 and 4"),
        4,
    ),
    "dtype": Mistake(
        (
            "import torch\nfrom torch import nn\n\nrows = torch.ones(4, 3).double()\nnn.Linear(3, "
            "2)(rows)\n"
        ),
        "RE903",
        (
            "given torch.float64 (4, 3) on cpu",
            (
                "The input is torch.float64, the weights are torch.float32: convert it with "
                ".to(torch.float32)"
            ),
        ),
        5,
    ),
    "device": Mistake(
        "import torch\n\nleft = torch.ones(4, 3)\nprint(left + torch.ones(4, 3))\n"
        "right = torch.ones(4, 3, device='meta')\nprint(left + right)\n",
        "RE904",
        ("move both with .to(device)",),
        6,
    ),
    "index of an embedding": Mistake(
        "import torch\nfrom torch import nn\n\nrows = nn.Embedding(10, 4)\n"
        "rows(torch.tensor([[1, 2, 12]]))\n",
        "RE913",
        ("indices are 1 to 12, the embedding has 10 rows",),
        5,
    ),
    "labels of a loss": Mistake(
        "import torch\nfrom torch import nn\n\nscores = torch.zeros(4, 2, requires_grad=True)\n"
        "kinds = torch.tensor([0, 1, 2, 1])\nnn.functional.cross_entropy(scores, kinds)\n",
        "RE902",
        ("labels at this call are 0 to 2, allowed are 0 to 1",),
        6,
    ),
    "group that was never joined": Mistake(
        "import torch.distributed as group\n\ngroup.get_rank()\n",
        "RE908",
        ("It must call torch.distributed.init_process_group() first",),
        3,
    ),
    "variable of torchrun that may be missing": Mistake(
        'import os\n\nplace = int(os.getenv("LOCAL_RANK"))\n',
        "RE908",
        ("torchrun --nproc-per-node=2",),
        3,
    ),
    "device of another machine": Mistake(
        'from torch import nn\n\nnn.Linear(3, 2).to("mps")\n',
        "RE909",
        ("This torch has no device 'mps' here.",),
        3,
    ),
    "password": Mistake(
        'import getpass\n\nkey = getpass.getpass("key: ")\n',
        "RE911",
        ("Give the answers in a file",),
        3,
    ),
    "debugger": Mistake("breakpoint()\nprint(1)\n", "RE911", ("remove breakpoint()",)),
    "arguments with choices and commands": Mistake(
        "import argparse\n\nreader = argparse.ArgumentParser()\n"
        'reader.add_argument("--size", choices=["small", "large"], required=True)\n'
        "group = reader.add_mutually_exclusive_group(required=True)\n"
        'group.add_argument("--fast", action="store_true")\n'
        'commands = reader.add_subparsers(dest="command", required=True)\n'
        'commands.add_parser("train").add_argument("--data", required=True)\nreader.parse_args()\n',
        "RE912",
        ("Start it with: reenact diagnose program.py --size small --fast train --data DATA",),
        9,
    ),
    "arguments of sys.argv": Mistake(
        "import sys\n\nfolder = sys.argv[2]\n",
        "RE912",
        (
            "reads sys.argv[2], and 0 arguments were given",
            "Start it with: reenact diagnose program.py ARGUMENT_1 ARGUMENT_2",
        ),
        3,
    ),
    "missing model": Mistake(
        'import keras\n\nkeras.models.load_model("data/best.keras")\n',
        "RE906",
        ("start the program in its own, or correct it",),
        3,
    ),
    "missing file in a worker": Mistake(
        "from torch.utils.data import DataLoader\n\n\nclass Rows:\n    def __len__(self):\n"
        "        return 4\n\n    def __getitem__(self, index):\n        return "
        'open("nowhere.csv").read()\n'
        "\n\nlist(DataLoader(Rows(), num_workers=1))\n",
        "RE906",
        ("No such file or directory: 'nowhere.csv' (in a worker of a DataLoader)",),
        9,
    ),
    "no files where a data set looks": Mistake(
        "import glob\n\nfrom torch.utils.data import DataLoader\n\n\nclass Images(list):\n    "
        "pass\n\n\n"
        'DataLoader(Images(glob.glob("nowhere/*.png")), shuffle=True)\n',
        "RE906",
        ("The data set Images has no rows",),
        10,
    ),
    "removed module": Mistake(
        "import torch\nfrom torch._six import inf\n", "RE907", ("; torch ",), 2
    ),
    "checkpoint with a whole model": Mistake(
        "import torch\nfrom torch import nn\n\ntorch.save(nn.Linear(2, 2), 'model.pt')\n"
        "torch.load('model.pt')\n",
        "RE907",
        ("pass weights_only=False for a file that you trust",),
        5,
    ),
    "metric of another version": Mistake(
        'history = {"accuracy": [0.5], "loss": [1.0]}\nprint(history["acc"])\n',
        "RE910",
        ("There is no such key, there are: accuracy, loss.",),
        2,
    ),
    "name that the own module lacks": Mistake(
        (
            "import os\nfrom pathlib import Path\n\nPath('helper.py').touch()\nfrom helper import "
            "widths\n"
        ),
        "RE907",
        ("The program's own module does not have this name.",),
        5,
    ),
    "forward without return": Mistake(
        "def forward():\n    pass\n\n\nforward().mean()\n",
        "RE910",
        ("The value is None here: what should have returned it returns nothing.",),
        5,
    ),
    "columns of a linear layer": Mistake(
        "import torch\nfrom torch import nn\n\nnn.Linear(32, 3)(torch.ones(4, 16))\n",
        "RE901",
        ("takes 32 features and is given 16: make it 16 wide, or the layer before it 32",),
        4,
    ),
    "features of a norm": Mistake(
        "import torch\nfrom torch import nn\n\nnn.BatchNorm1d(32)(torch.ones(4, 16))\n",
        "RE901",
        ("takes 32 features and is given 16",),
        4,
    ),
    "channels last": Mistake(
        "import torch\nfrom torch import nn\n\nnn.Conv2d(3, 8, 3)(torch.ones(4, 28, 28, 3))\n",
        "RE901",
        ("takes 3 channels and is given 28: channels come last here",),
        4,
    ),
    "rows of different lengths in a batch": Mistake(
        "import torch\nfrom torch.utils.data import DataLoader\n\n"
        "list(DataLoader([torch.ones(2), torch.ones(3)], batch_size=2))\n",
        "RE901",
        ("Rows of a batch must all have the same shape: pad, crop or resize them first.",),
        4,
    ),
    "checkpoint of another model": Mistake(
        "from torch import nn\n\nnn.Linear(3, 2).load_state_dict(nn.Linear(3, 4).state_dict())\n",
        "RE901",
        ("The checkpoint belongs to another model",),
        3,
    ),
    "doubles in a recurrent layer": Mistake(
        "import torch\nfrom torch import nn\n\nnn.LSTM(3, 2)(torch.ones(4, 3).double())\n",
        "RE903",
        ("The input is torch.float64, the weights are torch.float32",),
        4,
    ),
    "class numbers as floats": Mistake(
        "import torch\nfrom torch import nn\n\nscores = torch.zeros(4, 2)\n"
        "nn.CrossEntropyLoss()(scores, torch.tensor([0.0, 1.0, 0.0, 1.0]))\n",
        "RE903",
        ("class numbers of type int64: convert them with .long()",),
        5,
    ),
    "binary labels as whole numbers": Mistake(
        "import torch\nfrom torch import nn\n\nscores = torch.zeros(4)\n"
        "nn.BCEWithLogitsLoss()(scores, torch.tensor([0, 1, 0, 1]))\n",
        "RE903",
        ("takes labels as floats: convert them with .float()",),
        5,
    ),
    "text in an array": Mistake(
        (
            "import numpy\nimport torch\n\nrows = numpy.array([1, 'a'], "
            "dtype=object)\ntorch.from_numpy(rows)\n"
        ),
        "RE903",
        ("The array holds text or objects, not numbers",),
        5,
    ),
    "lists for Keras": Mistake(
        "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
        'model.compile(optimizer="sgd", loss="mse")\nmodel.fit([[1.0, 2.0]] * 8, [[1.0]] * 8, '
        "verbose=0)\n",
        "RE903",
        ("Keras takes arrays and tensors, not lists",),
        5,
    ),
    "one column against a row": Mistake(
        (
            "import torch\nfrom torch import nn\n\nnn.BCEWithLogitsLoss()(torch.zeros(4, 1), "
            "torch.zeros(4))\n"
        ),
        "RE902",
        ("of the same shape, here (4, 1) and (4,): squeeze the output with .squeeze(-1)",),
        4,
    ),
    "squared error of other columns": Mistake(
        (
            "import torch\nfrom torch import nn\n\nnn.MSELoss()(torch.zeros(4, 3), torch.zeros(4, "
            "5))\n"
        ),
        "RE902",
        ("of the same shape, here (4, 3) and (4, 5)",),
        4,
    ),
    "fewer labels than rows": Mistake(
        "import keras\nimport numpy\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
        'model.compile(optimizer="sgd", loss="mse")\n'
        "model.fit(numpy.ones((96, 8)), numpy.ones(90), verbose=0)\n",
        "RE902",
        ("the same number of rows, here 96 and 90",),
    ),
    "compiled code": Mistake(
        "import numpy\n\nnumpy.random.default_rng(0).choice(5, 10, replace=False)\n",
        "RE910",
        ("ValueError: Cannot take a larger sample",),
        3,
    ),
    "squared error of class numbers": Mistake(
        "import keras\nimport numpy\n\nnumbers = numpy.random.default_rng(0)\n"
        'rows = numbers.normal(size=(96, 8)).astype("float32")\nkinds = numbers.integers(0, 3, '
        "96)\nmodel = keras.Sequential([keras.layers.Dense(3, "
        'activation="softmax")])\nmodel.compile(optimizer="adam", loss="mse")\nmodel.fit(rows, '
        "kinds, epochs=1, verbose=0)\n",
        "RE902",
        ("(y_true float32 (32,) - y_pred float32 (32, 3))", "the output has 3 units"),
        8,
    ),
}


def diagnose(
    folder: Path, *words: str, stdin: int | IO[bytes] = subprocess.DEVNULL
) -> subprocess.CompletedProcess[str]:
    surroundings = {
        name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")
    }
    return subprocess.run(
        [warm_reenact(), "diagnose", "--output-format", "json", *words],
        cwd=folder,
        env=surroundings | {"OMP_NUM_THREADS": "1"},
        stdin=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def findings_of(folder: Path, program: str) -> tuple[list[dict[str, Any]], str]:
    """What is found in a program, and what its user saw on stderr."""
    (folder / "data").mkdir()
    (folder / "data" / "train.csv").touch()
    (folder / "program.py").write_text(program)
    done = diagnose(folder, "program.py")
    assert done.returncode == 1, done.stdout + done.stderr
    return json.loads(done.stdout)["data"]["findings"], done.stderr


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_explained(name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    findings, seen = findings_of(tmp_path, mistake.program)
    witness = findings[0]["witnesses"][0]
    said = f"{witness['saw']}. {witness['why']}"
    assert witness["code"] == mistake.code, said
    for sentence in mistake.sentences:
        assert sentence in said
    if mistake.place:
        assert findings[0]["line"] == mistake.place
    assert "reenact_probe" not in seen
    assert "reenact_probe" not in said


MISLEADING = (
    "rank dimension axis channels shape dtype cuda out of memory, no such file, unexpected keyword "
    "argument"
)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "kind", ["ValueError", "RuntimeError", "TypeError", "AssertionError", "IndexError"]
)
def test_words_of_the_programs_own_exception_decide_nothing(kind: str, tmp_path: Path) -> None:
    raised = f'    raise {kind}("{MISLEADING}")'
    program = f"import torch\n\n\ndef check(limit):\n{raised}\n\n\ncheck(torch.ones(2))\n"
    findings, _ = findings_of(tmp_path, program)
    (finding,) = findings
    (witness,) = finding["witnesses"]
    assert (witness["code"], finding["line"]) == ("RE910", 5)
    assert witness["why"] == "The program raised this exception itself, at this line."


@pytest.mark.release
def test_an_exit_that_the_program_caught_is_no_mistake(tmp_path: Path) -> None:
    head = "import argparse\n\nimport torch\nfrom torch import nn\n\ntry:\n"
    tried = (
        "    argparse.ArgumentParser().parse_args(['--unknown'])\nexcept SystemExit:\n    pass\n"
    )
    made = (
        "torch.manual_seed(0)\nx = torch.randn(60, 4)\ny = (x.sum(1) > 0).long()\nmodel = "
        "nn.Linear(4, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.5)\n"
    )
    (tmp_path / "program.py").write_text(head + tried + made + TRAINING)
    done = diagnose(tmp_path, "program.py")
    assert "RE912" not in done.stdout
    assert "unknown" not in done.stdout


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["MemoryError", "EOFError", "ImportError"])
def test_nor_does_the_class_that_the_program_raises_itself(kind: str, tmp_path: Path) -> None:
    program = f'raise {kind}("the buffer of past rows is full")\n'
    (finding,), _ = findings_of(tmp_path, program)
    assert finding["witnesses"][0]["code"] == "RE910"


@pytest.mark.sample(2)
@pytest.mark.parametrize("inputs", ["", "keras.layers.Input((8,)), "])
def test_the_loss_is_the_only_advice_on_class_numbers(inputs: str, tmp_path: Path) -> None:
    program = MISTAKES["squared error of class numbers"].program
    program = program.replace("[keras.layers.Dense", f"[{inputs}keras.layers.Dense")
    (finding,), _ = findings_of(tmp_path, program)
    assert {witness["code"] for witness in finding["witnesses"]} <= {"RE003", "RE902"}
    assert finding["fault"] == "LCH"
    assert "sparse_categorical_crossentropy" in finding["fix"]["diff"]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("program", "sentence", "command"),
    [
        (
            'import sys\n\nsys.exit("usage: program.py FOLDER")\n',
            "ended itself with exit code 1: usage: program.py FOLDER (program.py:3:1)",
            "",
        ),
        (
            'exit("no data")\n',
            "ended itself with exit code 1: no data (program.py:1:1)",
            "",
        ),
        (
            "import sys\n\nsys.exit(2)\n",
            "ended itself with exit code 2: sys.exit(2) (program.py:3:1)",
            "reenact diagnose program.py ARGUMENTS",
        ),
    ],
)
def test_an_exit_of_the_program_is_quoted(
    program: str, sentence: str, command: str, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(program)
    done = diagnose(tmp_path, "program.py")
    data = json.loads(done.stdout)["data"]
    assert done.returncode == 3
    assert sentence in data["sentence"]
    assert (data["next"] or "") == command


def test_a_program_without_a_training_leads_to_what_reads_its_text(
    tmp_path: Path,
) -> None:
    (tmp_path / "program.py").write_text("print(1)\n")
    done = diagnose(tmp_path, "program.py")
    assert json.loads(done.stdout)["data"]["next"] == "reenact lint program.py"


ASKS = """
import torch
from torch import nn

rounds = int(input("How many? "))
torch.manual_seed(0)
x = torch.randn(64, 4)
y = (x.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(rounds):
    for rows in torch.randperm(64).split(16):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
"""


def test_answers_from_a_file_are_read_by_every_process_that_runs_the_program(
    tmp_path: Path,
) -> None:
    (tmp_path / "program.py").write_text(ASKS)
    (tmp_path / "answers.txt").write_text("5\n")
    with (tmp_path / "answers.txt").open("rb") as answers:
        done = diagnose(tmp_path, "program.py", stdin=answers)
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads(done.stdout)["data"]
    assert data["judgement"] == "sound"
    # The small experiments run the program as well, in a process of their own.
    assert "tests skipped" not in done.stdout
