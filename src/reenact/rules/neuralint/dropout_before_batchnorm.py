"""NL006 dropout-before-batchnorm

What
    Dropout stands directly, or with an activation between, in front of batch normalisation.
Why
    Dropout changes the variance of what it passes on in training and not in evaluation; the running
    statistics of the normalisation fit training only.
Symptom
    Evaluation is worse, and jumps more, than training.
Example
    from torch import nn

    block = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.BatchNorm1d(16), nn.ReLU())
Instead
    - block = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.BatchNorm1d(16), nn.ReLU())
    + block = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.5), nn.ReLU())
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f006 of the release; Li, Chen, Hu and Yang, "Understanding the Disharmony between Dropout and
    Batch Normalization by Variance Shift", CVPR 2019.
"""

from reenact.rules import Evidence, Fault, Findings, Needs, Rule
from reenact.rules.neuralint._layers import dropout_before


class DropoutBeforeBatchnorm(Rule):
    code, name, family, fault = "NL006", "dropout-before-batchnorm", "neuralint", Fault.LAD
    needs, confidence = Needs.SOURCE, 0.4
    why = "The statistics that normalisation gathers in training do not hold when dropout is off."

    def check(self, evidence: Evidence) -> Findings:
        return dropout_before(self, evidence, lambda layer: "BatchNorm" in layer.type)
