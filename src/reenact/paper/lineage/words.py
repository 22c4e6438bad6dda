"""Words by which a paper says what a citation is to it. Data, not judgement: a score weighs them."""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE)


BASELINE = _any(
    "baselines?", "compar(?:e|ed|es|ing|ison|isons)", "competitors?", r"outperform\w*", "against", "versus",
    "vs", "state[- ]of[- ]the[- ]art", r"surpass\w*", r"improv\w+ (?:over|upon|on)",
)  # fmt: skip
"""The sentence compares with what it cites."""
EXTENDS = _any(
    "buil(?:d|ds|t|ding) (?:up)?on", "extend(?:s|ed|ing)?", "extension of", "follow(?:s|ed|ing)?", "based on",
    "adopt(?:s|ed|ing)?", "adapt(?:s|ed|ing)? (?:from|the)", "inspired by", "generali[sz]e[sd]?",
    "modif(?:y|ies|ied)", "as (?:in|proposed|described|suggested)", "borrow(?:s|ed)?", "inherit(?:s|ed)?",
    "re-?use[sd]?", "start(?:s|ing)? from", "(?:taken|kept) from", "official (?:code|implementation)",
    "implementation of",
    "same (?:set-?up|settings?|protocol|architecture|network|hyper-?parameters?|schedule|values?)",
)  # fmt: skip
"""The sentence takes something from what it cites."""
GENERIC = _any(
    "stochastic (?:gradient|optimi[sz]ation)", "adam", "adagrad", "rmsprop", "decoupled weight decay",
    "(?:batch|layer|group) normali[sz]ation", "dropout", "rectified linear", "gaussian error linear",
    "delving deep into rectifiers", "difficulty of training deep", "attention is all you need",
    "deep residual learning", "very deep convolutional", "going deeper with convolutions", "imagenet",
    "cifar", "mnist", "coco", "learning multiple layers of features", "gradient-based learning applied",
    "data ?sets?", "benchmark", "corpus", "repository of", "pytorch", "tensorflow", "keras", "jax",
    "scikit-learn", "numpy", "survey", "review of", "a primer", "an introduction to", "textbook",
    r"back-?propagat\w+",
    "long short-term memory", "generative adversarial nets", "bert: pre-training", "few-shot learners",
)  # fmt: skip
"""A title that everybody cites: optimisers, normalisation, layers, data sets, frameworks, surveys."""
KINDS = {
    "abstract": re.compile("abstract", re.IGNORECASE),
    "related": re.compile("related|background|prior work|previous work|literature|preliminar", re.IGNORECASE),
    "introduction": re.compile("introduction|motivation", re.IGNORECASE),
    "experiment": re.compile(
        "experiment|evaluation|result|set-?up|ablation|comparison|baseline|implementation|training",
        re.IGNORECASE,
    ),
    "conclusion": re.compile("conclusion|discussion|limitation|future|acknowledg|impact", re.IGNORECASE),
    "method": re.compile(
        "method|approach|model|algorithm|architecture|framework|proposed|our |loss|objective", re.IGNORECASE
    ),
}
"""What a section is, by its title; the first that fits."""
