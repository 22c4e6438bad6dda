"""What a model is asked: the program as quoted data, and a typed list of faults as the answer."""

from __future__ import annotations

from pydantic import BaseModel, Field

from reenact.llm.ask import Request
from reenact.llm.prompts import load_prompt
from reenact.program.fault import Fault
from reenact.program.program import Program
from reenact.program.source import Language
from reenact.program.static_graph import StaticGraph
from reenact.settings import field_texts


class Suspicion(BaseModel):
    """One fault, as the model sees it. Nothing of it is believed before check.py has looked."""

    fault: str = Field(description="Code of the fault type, from the list.")
    layer: str = Field(default="", description="Name of the layer from the list; empty for the training.")
    file: str = Field(default="", description="Name of the file; empty for the first one.")
    line: int = Field(description="Number of the line at fault, as it stands before the bar.")
    old: str = Field(default="", description="The value in force, as the source writes it.")
    new: str = Field(default="", description="The value that mends it.")
    reason: str = Field(description="Why, in one sentence.")


class Opinion(BaseModel):
    """All faults that the model sees, the surest first; empty when it sees none."""

    faults: list[Suspicion] = Field(max_length=12)


def request_for(program: Program, graph: StaticGraph, step: str, sample: int) -> Request[Opinion]:
    """The question about one program."""
    template = load_prompt("reenact.diagnosis.llm_detector", "opinion.md")
    prompt = template.fill(faults=_fault_list(), layers=_layer_list(graph), program=numbered(program))
    return Request(step=step, prompt=prompt, answer=Opinion, sample=sample)


def _fault_list() -> str:
    texts = field_texts(Fault)
    return "\n".join(f"{Fault[name].value}: {text}" for name, text in texts.items())


def _layer_list(graph: StaticGraph) -> str:
    lines = [f"{layer.name}: {layer.type}, line {layer.place.line}" for layer in graph.layers]
    return "\n".join(lines) or "none could be read"


def numbered(program: Program) -> str:
    """Every Python file with its lines numbered, the entry first."""
    parts = []
    for file in program.files:
        if file.language not in (Language.PYTHON, Language.NOTEBOOK):
            continue
        text = program.script() if file is program.entry_file else file.text
        lines = (f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), start=1))
        parts.append("\n".join([f"file {file.path}", *lines]))
    return "\n\n".join(parts)
