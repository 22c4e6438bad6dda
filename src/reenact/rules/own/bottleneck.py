"""RE028 bottleneck

What
    A hidden layer far narrower than both its neighbours.
Why
    Everything the layers behind it know has passed through its few units; with fewer units than classes
    much is lost.
Symptom
    Training and validation are equally poor, whatever the rest of the model.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(2, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
Instead
    -     keras.layers.Dense(2, activation="relu"),
    +     keras.layers.Dense(16, activation="relu"),
Fix safety
    Unsafe: it changes what is trained. Leave the narrow middle of an autoencoder as it is.
Sources
    Humbatova et al., ICSE 2020 (wrong number of neurons).
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Place, Rule

TIMES, TINY = 4, 8


class Bottleneck(Rule):
    code, name, family, fault = "RE028", "bottleneck", "reenact", Fault.LCN
    needs, confidence = Needs.SOURCE, 0.3
    why = "All that later layers know has passed through these few units."

    def check(self, evidence: Evidence) -> Findings:
        dense = [layer for layer in evidence.layers if layer.family == "dense"]
        given = dense[0].settings.get("in_features") if dense else None
        if given is None and dense and dense[0].weights:
            given = dense[0].weights[0].shape[0]
        # What comes out of an autoencoder is as wide as what goes in.
        if not dense or (given is not None and given == dense[-1].width and len(dense) > 2):
            return
        texts = evidence.static.layers if evidence.static is not None else ()
        models: dict[Place | None, str] = {text.place: text.model for text in reversed(texts)}
        for before, layer, behind in zip(dense, dense[1:], dense[2:], strict=False):
            width, left, right = layer.width, before.width, behind.width
            if not width or not left or not right or width > TINY or width * TIMES > min(left, right):
                continue
            if len({models.get(one.place) for one in (before, layer, behind)}) > 1:
                continue
            saw = f"{width} units between {left} and {right}"
            sure = 0.55 if width < (dense[-1].width or 0) else None
            values = (TIMES * width, 8 * width, min(left, right))
            yield self.finding(evidence, saw, layer=layer, kind=Kind.UNITS, values=values, confidence=sure)
