"""Reads Keras's layers into the operations of a plan, one method a kind of layer."""

from __future__ import annotations

from reenact_express.refused import Refused

ACTIVATIONS = frozenset(
    ("linear", "relu", "sigmoid", "tanh", "softmax", "elu", "selu", "gelu", "silu", "softplus", "softsign",
     "leaky_relu", "relu6", "exponential", "hard_sigmoid", "log_softmax", "mish")
)  # fmt: skip
_WEIGHT_PARTS = ("kernel", "bias", "beta", "gamma", "embeddings", "recurrent")


class LayerReader:
    """Reads the layers of one model."""

    def __init__(self, keras, numbers):
        self.keras = keras
        self.numbers = numbers
        self.regularised = []

    def steps(self, graph):
        """The operations in the order of their run; a value's number is that of the step that makes it, the
        input is -1.
        """
        made = {id(graph.inputs[0]): -1}
        found = []
        seen = set()
        for depth in sorted(graph._nodes_by_depth, reverse=True):
            for node in graph._nodes_by_depth[depth]:
                if node.is_input:
                    continue
                step = self._step(node.operation)
                step["from"] = [made[id(tensor)] for tensor in self._inputs(node, made)]
                made[id(node.outputs[0])] = len(found)
                found.append(step)
                if id(node.operation) not in seen:
                    seen.add(id(node.operation))
                    self._regularisers(node.operation)
        last = made[id(graph.outputs[0])]
        if last != len(found) - 1:
            raise Refused("the model's output is not its last operation")
        return found

    def _inputs(self, node, made):
        given = dict(node.arguments.kwargs)
        # What the whole model is called with takes its place in every call.
        given.pop("training", None)
        if len(node.outputs) != 1 or any(value is not None for value in given.values()):
            raise Refused(f"layer {node.operation.name} is called in a way that is not known")
        tensors = list(node.input_tensors)
        if any(id(tensor) not in made for tensor in tensors):
            raise Refused(f"layer {node.operation.name} takes values from outside the model")
        return tensors

    def _step(self, layer):
        kind = type(layer).__name__
        if getattr(self.keras.layers, kind, None) is not type(layer):
            raise Refused(f"layer {getattr(layer, 'name', kind)} is of a class that is not known ({kind})")
        policy = getattr(layer, "dtype_policy", None)
        if policy is not None and policy.name != "float32":
            raise Refused(f"layer {layer.name} computes in {policy.name}")
        if getattr(layer, "activity_regularizer", None) is not None:
            raise Refused(f"layer {layer.name} has an activity regulariser")
        read = getattr(self, f"_read_{kind.lower()}", None)
        if read is None:
            raise Refused(f"layers of kind {kind} are not known")
        return read(layer)

    def _regularisers(self, layer):
        for part in _WEIGHT_PARTS:
            for holder in (layer, getattr(layer, "cell", None)):
                if holder is not None:
                    self._regulariser(holder, part)

    def _regulariser(self, holder, part):
        regulariser = getattr(holder, f"{part}_regularizer", None)
        weight = getattr(holder, "recurrent_kernel" if part == "recurrent" else part, None)
        if getattr(holder, f"{part}_constraint", None) is not None:
            raise Refused(f"layer {holder.name} has a constraint on its weights")
        if regulariser is None or weight is None or not weight.trainable:
            return
        known = self.keras.regularizers
        if type(regulariser) not in (known.L1, known.L2, known.L1L2):
            raise Refused(f"layer {holder.name} has a regulariser that is not known")
        l1, l2 = (float(getattr(regulariser, name, 0.0) or 0.0) for name in ("l1", "l2"))
        self.regularised.append([self._number(weight), l1, l2])

    def _number(self, variable):
        if id(variable) not in self.numbers:
            raise Refused(f"weight {variable.path} is not one of the model's")
        return self.numbers[id(variable)]

    def _weights(self, *variables):
        return [self._number(variable) for variable in variables if variable is not None]

    def _activation(self, layer, name="activation"):
        function = getattr(layer, name)
        found = getattr(function, "__name__", "")
        if found not in ACTIVATIONS or getattr(self.keras.activations, found, None) is not function:
            raise Refused(f"the activation of layer {layer.name} is not known")
        return found

    # One method a kind of layer ---------------------------------------------------------------------------

    def _read_dense(self, layer):
        if getattr(layer, "lora_enabled", False) or getattr(layer, "quantization_mode", None):
            raise Refused(f"layer {layer.name} is quantised or adapted")
        return {
            "op": "dense",
            "activation": self._activation(layer),
            "weights": self._weights(layer.kernel, layer.bias if layer.use_bias else None),
        }

    def _activation_only(self, name, **settings):
        return {"op": "activation", "activation": name, "weights": [], **settings}

    def _read_activation(self, layer):
        return self._activation_only(self._activation(layer))

    def _read_relu(self, layer):
        if layer.max_value is not None or layer.threshold or layer.negative_slope:
            raise Refused(f"layer {layer.name} has settings that are not known")
        return self._activation_only("relu")

    def _read_softmax(self, layer):
        if layer.axis != -1:
            raise Refused(f"layer {layer.name} has settings that are not known")
        return self._activation_only("softmax")

    def _read_leakyrelu(self, layer):
        return self._activation_only("leaky_relu", slope=float(layer.negative_slope))

    def _read_elu(self, layer):
        if float(layer.alpha) != 1.0:
            raise Refused(f"layer {layer.name} has settings that are not known")
        return self._activation_only("elu")

    def _read_dropout(self, layer):
        if layer.noise_shape is not None or layer.seed is not None:
            raise Refused(f"layer {layer.name} has a noise shape or a seed of its own")
        return {"op": "dropout", "rate": float(layer.rate), "weights": []}

    def _read_flatten(self, layer):
        self._channels_last(layer)
        return {"op": "reshape", "shape": [-1], "weights": []}

    def _read_reshape(self, layer):
        return {"op": "reshape", "shape": [int(part) for part in layer.target_shape], "weights": []}

    def _read_rescaling(self, layer):
        if not isinstance(layer.scale, (int, float)) or not isinstance(layer.offset, (int, float)):
            raise Refused(f"layer {layer.name} has settings that are not known")
        return {"op": "rescaling", "scale": float(layer.scale), "offset": float(layer.offset), "weights": []}

    def _conv(self, layer, axes):
        self._channels_last(layer)
        if layer.padding not in ("valid", "same"):
            raise Refused(f"layer {layer.name} pads by {layer.padding}")
        return {
            "op": "conv",
            "axes": axes,
            "strides": [int(part) for part in layer.strides],
            "dilation": [int(part) for part in layer.dilation_rate],
            "padding": layer.padding,
            "activation": self._activation(layer),
            "weights": self._weights(layer.kernel, layer.bias if layer.use_bias else None),
        }

    def _read_conv1d(self, layer):
        return self._conv(layer, 1)

    def _read_conv2d(self, layer):
        return self._conv(layer, 2)

    def _pool(self, layer, mode, axes):
        self._channels_last(layer)
        if layer.padding != "valid":
            raise Refused(f"layer {layer.name} pads by {layer.padding}")
        size = [int(part) for part in layer.pool_size]
        strides = [int(part) for part in (layer.strides or layer.pool_size)]
        return {"op": "pool", "mode": mode, "axes": axes, "size": size, "strides": strides, "weights": []}

    def _read_maxpooling1d(self, layer):
        return self._pool(layer, "max", 1)

    def _read_maxpooling2d(self, layer):
        return self._pool(layer, "max", 2)

    def _read_averagepooling1d(self, layer):
        return self._pool(layer, "avg", 1)

    def _read_averagepooling2d(self, layer):
        return self._pool(layer, "avg", 2)

    def _global(self, layer, mode, axes):
        self._channels_last(layer)
        return {"op": "global_pool", "mode": mode, "axes": axes, "keep": bool(layer.keepdims), "weights": []}

    def _read_globalmaxpooling1d(self, layer):
        return self._global(layer, "max", 1)

    def _read_globalmaxpooling2d(self, layer):
        return self._global(layer, "max", 2)

    def _read_globalaveragepooling1d(self, layer):
        return self._global(layer, "avg", 1)

    def _read_globalaveragepooling2d(self, layer):
        return self._global(layer, "avg", 2)

    def _read_batchnormalization(self, layer):
        last = len(layer.input.shape) - 1
        if layer.axis not in (-1, last) or layer.renorm or layer.synchronized:
            raise Refused(f"layer {layer.name} has settings that are not known")
        gamma, beta = layer.gamma if layer.scale else None, layer.beta if layer.center else None
        return {
            "op": "batch_norm",
            "momentum": float(layer.momentum),
            "epsilon": float(layer.epsilon),
            "learns": bool(layer.trainable),
            "scale": gamma is not None,
            "center": beta is not None,
            "weights": self._weights(layer.moving_mean, layer.moving_variance, gamma, beta),
        }

    def _read_embedding(self, layer):
        if layer.mask_zero or getattr(layer, "lora_enabled", False):
            raise Refused(f"layer {layer.name} masks or is adapted")
        return {"op": "embedding", "weights": self._weights(layer.embeddings)}

    def _recurrent(self, layer, op):
        cell = layer.cell
        odd = (
            layer.stateful, layer.return_state, layer.go_backwards, cell.dropout, cell.recurrent_dropout,
            op == "gru" and not cell.reset_after,
        )  # fmt: skip
        if any(odd):
            raise Refused(f"layer {layer.name} has settings that are not known")
        return {
            "op": op,
            "sequences": bool(layer.return_sequences),
            "activation": self._activation(cell),
            "gate": self._activation(cell, "recurrent_activation") if op != "rnn" else "linear",
            "weights": self._weights(
                cell.kernel, cell.recurrent_kernel, cell.bias if cell.use_bias else None
            ),
        }

    def _read_lstm(self, layer):
        return self._recurrent(layer, "lstm")

    def _read_gru(self, layer):
        return self._recurrent(layer, "gru")

    def _read_simplernn(self, layer):
        return self._recurrent(layer, "rnn")

    def _read_add(self, _):
        return {"op": "merge", "mode": "add", "weights": []}

    def _read_multiply(self, _):
        return {"op": "merge", "mode": "multiply", "weights": []}

    def _read_concatenate(self, layer):
        if layer.axis != -1:
            raise Refused(f"layer {layer.name} has settings that are not known")
        return {"op": "merge", "mode": "concatenate", "weights": []}

    @staticmethod
    def _channels_last(layer):
        if layer.data_format != "channels_last":
            raise Refused(f"layer {layer.name} keeps its channels first")
