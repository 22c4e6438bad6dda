"""Values inside other values: dictionary entries, attributes of configurations, options, fields,
data files.
"""

import ast

from reenact.program.flow.ends import (
    NOT_LITERAL,
    End,
    Given,
    Option,
    absl_flag,
    argparse_options,
    literal,
)
from reenact.program.flow.library_names import last_name
from reenact.program.flow.trail import (
    LOADERS,
    Trail,
    last_before,
    line_of,
    loaded_file,
    named_file,
)
from reenact.program.hyperparameter import Written
from reenact.program.syntax.calls import argument, is_name, keyword, method_name, receiver
from reenact.program.syntax.datafile import (
    MAIN,
    DataEntry,
    from_group,
    is_overridden,
    named_config,
)
from reenact.program.syntax.index import dotted_text
from reenact.program.syntax.scope import FileIndex, Scope, Store, scope_of
from reenact.program.syntax.targets import How

PARSE = frozenset(
    (
        "parse_args",
        "parse_known_args",
        "parse_intermixed_args",
        "parse_args_into_dataclasses",
    )
)
RECORDS = frozenset(
    {
        "SimpleNamespace",
        "Namespace",
        "EasyDict",
        "edict",
        "AttrDict",
        "AttributeDict",
        "Box",
        "Munch",
        "DotDict",
        "ConfigDict",
        "create",
        "OmegaConf",
        "dict",
        "FrozenDict",
        "DefaultMunch",
        "ObjectDict",
        "HParams",
        "OrderedDict",
    }
)
SAME = frozenset(
    {
        "builtins.vars",
        "copy.copy",
        "copy.deepcopy",
        "dataclasses.asdict",
        "dataclasses.replace",
        "builtins.list",
        "builtins.tuple",
        "omegaconf.OmegaConf.to_container",
        "builtins.reversed",
        "builtins.sorted",
    }
)


PROPERTIES = ("property", "cached_property")


class Members(Trail):
    """Looks inside what a trail reached."""

    def attribute(self, node: ast.Attribute) -> list[End]:
        """Ends of `base.name`."""
        base = self.sources.meaning(node.value)
        owner = self.sources.owner(node.value)
        stored = self._stored(node, node.value, node.attr)
        if stored is not None:
            return stored
        if isinstance(base, str):
            option = absl_flag(self.sources, node.attr) if base.endswith(".FLAGS") else None
            return [] if option is None else self.option(option)
        if isinstance(base, FileIndex):
            return self.module_name(base.module, node.attr)
        if owner is not None and isinstance(node.value, ast.Name) and self._is_self(node.value):
            return self.own_attribute(owner, node.attr)
        return self._of(node.value, node.attr)

    def subscript(self, node: ast.Subscript) -> list[End]:
        """Ends of `base["key"]` and `base[0]`; a key that is not written out is left to
        `callees`.
        """
        key = self._key(node.slice)
        if isinstance(key, str):
            stored = self._stored(node, node.value, key)
            if stored is not None:
                return stored
            return self._of(node.value, key)
        if not isinstance(key, int):
            return []
        return self.picked(self.follow(node.value), (key,))

    def _key(self, node: ast.expr) -> object:
        """A key that is written out, or a constant of the program; not one that somebody
        chooses.
        """
        end = self.single(node) if isinstance(node, ast.Name) else None
        if (
            end is not None
            and end.written is Written.CONSTANT
            and isinstance(end.node, ast.Constant)
        ):
            return end.literal()
        if not isinstance(node, ast.Constant | ast.UnaryOp):
            return NOT_LITERAL
        return literal(node)

    def get(self, call: ast.Call) -> list[End]:
        """Ends of `base.get("key", default)`: the entry, or the default written in the call."""
        base = receiver(call) if method_name(call) in ("get", "pop", "setdefault") else None
        key = literal(call.args[0]) if call.args else None
        if base is None or not isinstance(key, str):
            return []
        stored = self._stored(call, base, key)
        found = self._of(base, key) if stored is None else stored
        if found or len(call.args) < 2:
            return found
        return self.follow(call.args[1], Written.CONFIG)

    def _of(self, base: ast.expr, key: str) -> list[End]:
        """The value under a name in what an expression leads to."""
        holds = isinstance(base, ast.Dict | ast.Call | ast.List | ast.Tuple | ast.BinOp)
        given = self.hyper_parameter(base, key)
        ends = (
            [end for end in self.follow(base) if end.node is not base or holds] if not given else []
        )
        return given or [inner for end in ends for inner in self.member(end, key)]

    def _is_self(self, node: ast.Name) -> bool:
        function = scope_of(node).enclosing_function()
        owner = function.parent if function is not None else None
        return owner is not None and owner.is_class and self.sources.owner(node) is owner

    def _stored(
        self,
        use: ast.expr,
        base: ast.expr,
        key: str,
    ) -> list[End] | None:
        """`config.lr = 0.1` or `config["lr"] = 0.1` about the same name in the same file: the one
        in force.

        None when nothing is stored before the use; empty when it cannot be determined which of
        several holds.
        """
        text = dotted_text(base)
        scope = scope_of(use)
        if not text or (isinstance(base, ast.Name) and self._is_self(base)):
            return None
        index = scope.index
        around = list(scope.chain())
        same = [store for store in index.stores.get(key, ()) if store.base == text]
        stores = [store for store in same if scope_of(store.node) in around]
        own = [store for store in stores if scope_of(store.node) is scope]
        if not stores or (own and all(line_of(store.node) > line_of(use) for store in own)):
            return None
        if own:
            one = last_before(index, own, use)
            return [] if one is None else self.store(one, Written.CONFIG)
        blocks = {index.block_of(store.node) for store in stores}
        straight = len(blocks) == 1 and blocks.pop()[1] == "body"
        if len(stores) == 1 or straight:
            return self.store(stores[-1], Written.CONFIG)
        return []

    def store(self, store: Store, written: Written = Written.CONSTANT) -> list[End]:
        return self.picked(
            self.follow(store.value, written),
            store.pick,
        )

    def picked(
        self,
        ends: list[End],
        pick: tuple[int, ...],
    ) -> list[End]:
        """The elements that unpacking takes out of what a trail reached."""
        for number in pick:
            ends = [inner for end in ends for inner in self.item(end, number)]
        return ends

    def member(self, end: End, key: str) -> list[End]:
        with self.within(end.frames):
            if end.entry is not None:
                return self._entry(end, end.entry, key)
            node = end.node
            if isinstance(node, ast.Dict):
                return self._dict(node, key)
            if isinstance(node, ast.ClassDef):
                return self.own_attribute(
                    scope_of(node).index.inner[node],
                    key,
                )
            if isinstance(node, ast.Call):
                return self._call_member(node, key)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
                return self._of(node.right, key) or self._of(node.left, key)
            return []

    def _entry(self, end: End, entry: DataEntry, key: str) -> list[End]:
        """An entry of a data file; hydra adds groups, and the command line may give something
        instead.
        """
        if not (isinstance(end.node, ast.Call) and self.sources.dotted(end.node.func) in MAIN):
            return end.inside(entry.get(key))
        arguments = self.sources.program.arguments
        if entry.get(key) is not None:
            if is_overridden(key, arguments):
                return []
            return end.inside(entry.get(key))
        found = from_group(
            entry,
            end.data_file,
            key,
            self.sources.program.files,
            arguments,
        )
        if found is None:
            return []
        return [
            End(
                end.node,
                Written.DATA_FILE,
                found[1],
                found[0],
            )
        ]

    def config(self, call: ast.Call) -> list[End]:
        """What `hydra.main` gives to the function after it."""
        name = named_config(call) if self.sources.dotted(call.func) in MAIN else ""
        found = named_file(self, name) if name else None
        if found is None:
            return []
        return [
            End(
                call,
                Written.DATA_FILE,
                found[1],
                found[0],
            )
        ]

    def _dict(self, node: ast.Dict, key: str) -> list[End]:
        for name, value in reversed(list(zip(node.keys, node.values, strict=True))):
            found = self._of(value, key) if name is None else []
            if found:
                return found
            if isinstance(name, ast.Constant) and name.value == key:
                return self.follow(value, Written.CONFIG)
        return []

    def _call_member(self, node: ast.Call, key: str) -> list[End]:
        if method_name(node) in PARSE:
            return self._parsed(node, key)
        target = self.sources.meaning(node.func)
        if isinstance(target, Scope):
            return self.made(target, node, key) if target.is_class else []
        dotted = target if isinstance(target, str) else ""
        value = keyword(node, key)
        if dotted in LOADERS:
            found = loaded_file(self, node)
            if not found:
                return []
            return self.member(
                End(node, Written.DATA_FILE, found[1], found[0]),
                key,
            )
        if dotted in MAIN:
            return [inner for end in self.config(node) for inner in self.member(end, key)]
        if value is not None:
            return self.follow(value, Written.CONFIG)
        known = dotted in SAME or last_name(dotted) in RECORDS or dotted_text(node.func) in RECORDS
        extras = [
            *(part.value for part in node.keywords if part.arg is None),
            *node.args[:1],
        ]
        if not known:
            return []
        return next(
            filter(None, (self._of(extra, key) for extra in extras)),
            [],
        )

    def _parsed(self, node: ast.Call, key: str) -> list[End]:
        options = argparse_options(self.sources, node)
        flags = frozenset(flag for option in options for flag in option.flags)
        for option in reversed(options):
            if option.dest == key:
                return self._own_words(node, option, flags) or self.option(option, flags, node)
        return []

    def _own_words(
        self,
        node: ast.Call,
        option: Option,
        flags: frozenset[str],
    ) -> list[End]:
        """`parser.parse_args(["--lr", "0.1"])`: the word in that list is the value."""
        words = argument(node, 0, "args")
        if not isinstance(words, ast.List | ast.Tuple):
            return []
        texts = [literal(part) for part in words.elts]
        given = option.given(
            [text if isinstance(text, str) else "" for text in texts],
            flags,
        )
        if given is None or given.count != 2:
            return []
        return [
            End(
                words.elts[given.index + 1],
                Written.ARGPARSE,
            )
        ]

    def option(
        self,
        option: Option,
        flags: frozenset[str] = frozenset(),
        parse: ast.Call | None = None,
    ) -> list[End]:
        """The default of an option, and what the command line gives instead."""
        own = parse is not None and isinstance(argument(parse, 0, "args"), ast.List | ast.Tuple)
        given = None if own else option.given(self.sources.program.arguments, flags)
        if option.default is None:
            return [
                End(option.call, Written.ARGPARSE).with_option(
                    option,
                    given,
                )
            ]
        return [
            end.with_option(option, given) for end in self.follow(option.default, Written.ARGPARSE)
        ]

    def items(self, end: End) -> list[End]:
        """Everything a loop over it would see."""
        with self.within(end.frames):
            if end.entry is not None:
                return end.inside(*(end.entry.items if isinstance(end.entry.items, list) else []))
            if not isinstance(end.node, ast.List | ast.Tuple) or len(end.node.elts) > 64:
                return []
            found: list[End] = []
            for number, part in enumerate(end.node.elts):
                ends = self.follow(part, end.written)
                if end.option is not None:
                    ends = [
                        inner.with_option(end.option, _item_given(end, number)) for inner in ends
                    ]
                found += ends
            return found

    def item(self, end: End, number: int) -> list[End]:
        """One element of a list, a tuple, a data file's list, or of what `parse_known_args`
        returns.
        """
        with self.within(end.frames):
            if end.entry is not None:
                return end.inside(end.entry.get(number))
            node = end.node
            if isinstance(node, ast.Tuple | ast.List) and -len(node.elts) <= number < len(
                node.elts
            ):
                return self.follow(node.elts[number], end.written)
            if isinstance(node, ast.Call) and method_name(node) in PARSE:
                return self._parsed_item(node, number, end)
            return []

    def _parsed_item(
        self,
        node: ast.Call,
        number: int,
        end: End,
    ) -> list[End]:
        """`args, rest = parser.parse_known_args()`, `a, b = HfArgumentParser((A,
        B)).parse_args_into_...`.
        """
        if method_name(node) != "parse_args_into_dataclasses":
            return [end] if number == 0 else []
        maker = self.single(receiver(node) or node)
        if maker is None or not isinstance(maker.node, ast.Call):
            return []
        classes = argument(maker.node, 0, "dataclass_types")
        parts = classes.elts if isinstance(classes, ast.Tuple | ast.List) else [classes]
        part = parts[number] if number < len(parts) else None
        return self.follow(part) if part is not None else []

    def members(self, node: ast.expr, key: str) -> list[End]:
        """The values under a name in whatever an expression leads to."""
        return [inner for end in self.follow(node) for inner in self.member(end, key)]

    def own_attribute(self, owner: Scope, name: str) -> list[End]:
        """An attribute of an instance: stored once in a method, or bound in its class or a base."""
        for one in self.sources.lineage(owner):
            stores = self.sources.stores(one, name)
            if stores:
                if len(stores) == 1:
                    return self.store(stores[0])
                return []
            method = self.sources.own_method(one, name)
            marks = getattr(method.node, "decorator_list", ()) if method is not None else ()
            if method is not None and any(
                is_name(mark, word) for mark in marks for word in PROPERTIES
            ):
                return self.returned(method)
            values = [b for b in one.bindings.get(name, ()) if b.how is How.ASSIGN]
            if len(values) == 1 and values[0].value is not None:
                return self._field(values[0].value) or self.bound(values[0])
        return []

    def _field(self, value: ast.expr) -> list[End]:
        """`field(default=...)` and `field(default_factory=...)`, pydantic's and attrs' likewise."""
        called = self.sources.dotted(value.func) if isinstance(value, ast.Call) else ""
        if not isinstance(value, ast.Call) or last_name(called).lower() not in (
            "field",
            "ib",
            "attrib",
        ):
            return []
        factory = keyword(value, "default_factory", "factory")
        default = keyword(value, "default") or (value.args[0] if value.args else None)
        default = default or (factory.body if isinstance(factory, ast.Lambda) else None)
        if default is not None:
            return self.follow(default, Written.DATACLASS)
        made = self.sources.owner(factory) if factory is not None else None
        if made is not None:
            return [End(made.node, Written.DATACLASS)]
        return []

    def made(
        self,
        owner: Scope,
        call: ast.Call,
        name: str,
    ) -> list[End]:
        """An attribute of the instance that this very call makes."""
        if self.sources.method(owner, "__init__") is not None:
            return self.own_attribute(owner, name)
        assert isinstance(owner.node, ast.ClassDef)
        parts = [part.target for part in owner.node.body if isinstance(part, ast.AnnAssign)]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        value = keyword(call, name) or dict(zip(names, call.args, strict=False)).get(name)
        if value is not None:
            return self.follow(value, Written.LITERAL)
        extras = (self.members(part.value, name) for part in call.keywords if part.arg is None)
        return next(filter(None, extras), []) or self.own_attribute(owner, name)

    def hyper_parameter(self, base: ast.expr, name: str) -> list[End]:
        """`self.hparams.lr` of Lightning: the parameter `lr` of `__init__`."""
        named = isinstance(base, ast.Attribute) and base.attr in (
            "hparams",
            "hparams_initial",
        )
        owner = (
            self.sources.owner(base.value) if isinstance(base, ast.Attribute) and named else None
        )
        start = self.sources.method(owner, "__init__") if owner is not None else None
        bindings = start.bindings.get(name, []) if start is not None else []
        return self.bound(bindings[0]) if bindings else []


def _item_given(end: End, number: int) -> Given | None:
    """One word of a list that the command line gives; it then stands for itself, without its
    flag.
    """
    given = end.given
    if given is None or not isinstance(given.value, list) or number >= len(given.value):
        return None
    first = given.index + given.count - len(given.words)
    return Given(
        "",
        first + number,
        1,
        given.words[number : number + 1],
        given.value[number],
    )
