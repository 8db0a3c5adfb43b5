"""Plain values out of a pickle, without importing, building or calling anything it names.

A pickle is a program for a small stack machine. This one runs only the instructions that make plain values; a class or
function becomes a `Global` (two strings), and whatever the pickle would build from one becomes what the caller's `call`
says, which is usually `OPAQUE`. Nothing here can import a module, so a hostile file can at worst be refused.
"""

import pickletools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from mmap import mmap
from typing import IO, Any, Final, cast

MAX_INSTRUCTIONS = 1_000_000  # a MaPLe checkpoint has about 30,000


@dataclass(frozen=True)
class Global:
    """The name of a class or function, never the thing itself."""

    module: str
    name: str


class Opaque:
    """The place of an object that was not built."""


OPAQUE: Final = Opaque()

Call = Callable[[Global, tuple[Any, ...]], object]
PersistentLoad = Callable[[object], object]


def read_pickle(stream: BytesIO | mmap, *, call: Call, persistent_load: PersistentLoad) -> object:
    """The value of the pickle that starts here; the stream is left after its last byte. Malformed: ValueError.

    The stream is in memory or mapped, so that no length in the pickle can make a read allocate more than there is.
    """
    machine = _Machine(call, persistent_load)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a stray backslash in a damaged name
        for count, (opcode, arg, _) in enumerate(pickletools.genops(cast(IO[bytes], stream))):
            if count >= MAX_INSTRUCTIONS:
                raise ValueError(f"the pickle has more than {MAX_INSTRUCTIONS} instructions")
            if opcode.name != "STOP":
                machine.run(opcode.name, arg)
    return machine.pop()


_CONSTANTS: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_LITERALS: Final = frozenset(
    {"INT", "LONG", "LONG1", "LONG4", "BININT", "BININT1", "BININT2", "FLOAT", "BINFLOAT"}
    | {"STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
    | {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"}
)
_TUPLES: Final = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED: Final = frozenset({"PROTO", "FRAME"})


class _Machine:
    """The stack machine; marks split the stack into frames, the last of which is current."""

    def __init__(self, call: Call, persistent_load: PersistentLoad) -> None:
        self._call = call
        self._persistent_load = persistent_load
        self._frames: list[list[Any]] = [[]]
        self._memo: dict[int, Any] = {}
        self._arg: Any = None  # of the current instruction

    def run(self, name: str, arg: Any) -> None:
        """Execute one instruction."""
        if name in _LITERALS:
            self._push(arg)
        elif name in _CONSTANTS:
            self._push(_CONSTANTS[name])
        elif name in _TUPLES:
            self._push(tuple(reversed([self.pop() for _ in range(_TUPLES[name])])))
        elif name not in _IGNORED:
            instruction = getattr(self, f"_do_{name.lower()}", None)
            if instruction is None:
                raise ValueError(f"the pickle uses the instruction {name}, which no weights file needs")
            self._arg = arg
            instruction()

    def pop(self) -> Any:
        """The value on top of the stack, removed."""
        if not self._frames[-1]:
            raise ValueError("the pickle takes a value from an empty stack")
        return self._frames[-1].pop()

    def _push(self, value: object) -> None:
        self._frames[-1].append(value)

    def _top(self) -> Any:
        self._push(value := self.pop())
        return value

    def _pop_frame(self) -> list[Any]:
        if len(self._frames) < 2:
            raise ValueError("the pickle takes values up to a mark it never set")
        return self._frames.pop()

    # The stack and the memo

    def _do_mark(self) -> None:
        self._frames.append([])

    def _do_pop(self) -> None:
        if self._frames[-1]:
            self.pop()
        else:
            self._pop_frame()

    def _do_pop_mark(self) -> None:
        self._pop_frame()

    def _do_dup(self) -> None:
        self._push(self._top())

    def _do_put(self) -> None:
        self._memo[self._arg] = self._top()

    _do_binput = _do_long_binput = _do_put

    def _do_memoize(self) -> None:
        self._memo[len(self._memo)] = self._top()

    def _do_get(self) -> None:
        if self._arg not in self._memo:
            raise ValueError(f"the pickle recalls value {self._arg} before storing it")
        self._push(self._memo[self._arg])

    _do_binget = _do_long_binget = _do_get

    # Containers

    def _do_empty_list(self) -> None:
        self._push([])

    def _do_empty_dict(self) -> None:
        self._push({})

    def _do_empty_set(self) -> None:
        # Hashing what a hostile file nested can take forever, and no weights file needs its sets.
        self._push(OPAQUE)

    def _do_list(self) -> None:
        self._push(self._pop_frame())

    def _do_tuple(self) -> None:
        self._push(tuple(self._pop_frame()))

    def _do_frozenset(self) -> None:
        self._pop_frame()
        self._push(OPAQUE)

    def _do_dict(self) -> None:
        items = self._pop_frame()
        self._push({})
        self._set_items(items)

    def _do_append(self) -> None:
        self._extend([self.pop()])

    def _do_appends(self) -> None:
        self._extend(self._pop_frame())

    def _do_additems(self) -> None:
        self._pop_frame()

    def _do_setitem(self) -> None:
        value, key = self.pop(), self.pop()
        self._set_items([key, value])

    def _do_setitems(self) -> None:
        self._set_items(self._pop_frame())

    def _extend(self, values: list[Any]) -> None:
        target = self._top()
        if isinstance(target, list):
            target.extend(values)
        elif not isinstance(target, Opaque):
            raise ValueError(f"the pickle appends to a {type(target).__name__}")

    def _set_items(self, items: list[Any]) -> None:
        target = self._top()
        if isinstance(target, Opaque):
            return
        if not isinstance(target, dict) or len(items) % 2:
            raise ValueError(f"the pickle sets {len(items)} keys and values on a {type(target).__name__}")
        target.update((k, v) for k, v in zip(items[::2], items[1::2], strict=True) if _is_plain_key(k))

    # Names, and what they would build

    def _do_global(self) -> None:
        module, _, name = self._arg.partition(" ")
        self._push(Global(module, name))

    def _do_stack_global(self) -> None:
        name, module = self.pop(), self.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise ValueError("the pickle names a class by something that is not text")
        self._push(Global(module, name))

    def _do_reduce(self) -> None:
        args, function = self.pop(), self.pop()
        known = isinstance(function, Global) and isinstance(args, tuple)
        self._push(self._call(function, args) if known else OPAQUE)

    _do_newobj = _do_reduce

    def _do_newobj_ex(self) -> None:
        for _ in range(3):
            self.pop()
        self._push(OPAQUE)

    def _do_inst(self) -> None:
        self._pop_frame()
        self._push(OPAQUE)

    _do_obj = _do_inst

    def _do_build(self) -> None:
        # The state of an object that was not built; on a dict it is the metadata of an OrderedDict.
        self.pop()
        self._top()

    def _do_binpersid(self) -> None:
        self._push(self._persistent_load(self.pop()))


def _is_plain_key(key: object) -> bool:
    """Whether hashing it is quick: a nested tuple or a giant integer can be made to take forever."""
    if isinstance(key, int):
        return key.bit_length() <= 64
    return key is None or isinstance(key, str | bytes | float)
