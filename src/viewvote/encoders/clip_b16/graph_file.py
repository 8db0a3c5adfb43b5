"""ONNX files read, changed and written without the `onnx` package: with protobuf, which ONNX Runtime brings.

Only the fields that the rewriting touches are named here; protobuf keeps the others as they are. Numbers and types are
those of onnx.proto, which never change.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import CheckpointError

MESSAGES = {
    "Tensor": "1 dims int64*, 2 data_type int32, 4 float_data float+, 5 int32_data int32+, 7 int64_data int64+, "
    "8 name string, 9 raw_data bytes",
    "Attribute": "1 name string, 3 i int64, 8 ints int64*, 20 type int32",
    "Node": "1 input string*, 2 output string*, 3 name string, 4 op_type string, 5 attribute Attribute*",
    "Value": "1 name string",
    "Graph": "1 node Node*, 5 initializer Tensor*, 12 output Value*",
    "Model": "7 graph Graph",
}
"""Of each message, its fields as "number name type"; * repeats, + repeats and is packed."""
INT, INTS = 2, 7  # kinds of attributes
DTYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64}
_CODES = {np.dtype(dtype): code for code, dtype in DTYPES.items()}


def read_graph_file(path: Path) -> Any:
    """The ModelProto of a file."""
    from google.protobuf.message import DecodeError

    model = message("Model")
    try:
        model.ParseFromString(path.read_bytes())
    except DecodeError as error:
        raise CheckpointError(f"{path} is not an ONNX graph: {error}.") from error
    return model


def message(kind: str) -> Any:
    """An empty message of one of MESSAGES."""
    return _classes()[kind]()


def to_array(tensor: Any) -> np.ndarray[Any, Any]:
    """What a tensor holds."""
    dtype = np.dtype(DTYPES[tensor.data_type])
    if tensor.raw_data:
        values = np.frombuffer(tensor.raw_data, dtype.newbyteorder("<"))
    else:  # small integers lie in the field of 32 bits
        listed = {1: tensor.float_data, 7: tensor.int64_data}.get(tensor.data_type, tensor.int32_data)
        values = np.array(listed)
    return values.astype(dtype).reshape(tuple(tensor.dims))


def from_array(value: np.ndarray[Any, Any], name: str) -> Any:
    """The tensor that holds the array."""
    code = _CODES[value.dtype]
    raw = value.astype(value.dtype.newbyteorder("<")).tobytes()
    return _filled("Tensor", dims=value.shape, data_type=code, name=name, raw_data=raw)


def make_node(kind: str, inputs: list[str], output: str, **attributes: int | list[int]) -> Any:
    """A node with one output and attributes of integers."""
    node = _filled("Node", input=inputs, output=[output], op_type=kind)
    for name, value in attributes.items():
        held = {"ints": value, "type": INTS} if isinstance(value, list) else {"i": value, "type": INT}
        node.attribute.append(_filled("Attribute", name=name, **held))
    return node


def _filled(kind: str, **fields: Any) -> Any:
    return _classes()[kind](**fields)


@cache
def _classes() -> dict[str, Any]:
    """A class for each of MESSAGES, in a pool of their own: `onnx` may be imported beside them."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    file = FileDescriptorProto(name="viewvote.proto", package="viewvote", syntax="proto2")
    for kind, fields in MESSAGES.items():
        described = file.message_type.add(name=kind)
        for field in fields.split(", "):
            number, name, form = field.split(" ")
            kind_of = form.rstrip("*+")
            repeated = FieldDescriptorProto.LABEL_REPEATED if form != kind_of else FieldDescriptorProto.LABEL_OPTIONAL
            added = described.field.add(name=name, number=int(number), label=repeated)
            if kind_of in MESSAGES:
                added.type, added.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".viewvote.{kind_of}"
            else:
                added.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind_of.upper()}")
            added.options.packed = form.endswith("+")
    pool = DescriptorPool()
    pool.Add(file)
    return {kind: GetMessageClass(pool.FindMessageTypeByName(f"viewvote.{kind}")) for kind in MESSAGES}
