"""The packaged int8 tower rewritten into a graph whose features are right, and the same, on every CPU.

What is wrong with it: it multiplies unsigned 8-bit activations by signed 8-bit weights, and processors without VNNI add
pairs of such products in 16 bits, which saturate; a view's features then have a cosine of 0.44 to the exact ones. It
also measures one range of activations over the whole batch, so that a view's features depend on its neighbours.

int8   weights in 7 bits, with which no pair of products can leave 16 bits, and one range per token. Where a layer norm
       comes before the product, part of each channel's range is first moved from the activations into the weights
       (SmoothQuant, arXiv 2211.10438; ranges are read off the norm's gain and shift, so no data is needed).
fp32   the packaged weights times their steps, in float32: what the int8 graph approximates.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Float32
from .graph_file import from_array, make_node, read_graph_file, to_array

LEVELS = 255  # of unsigned activations
MOST = 63  # |weight|; 2 * 255 * 63 < 2^15
SPREAD = 3.0  # deviations of a layer norm's output that count as its range
GELU_DEPTH = 0.164  # x * sigmoid(1.702 x) never falls below minus this
GELU_ZERO = 32  # the level of 0 after such an activation, elsewhere it is the middle


@dataclass(frozen=True)
class Product:
    """One integer product of the packaged graph: activations `x` by weights gives `y`, all seen as float32."""

    node: str
    x: str
    y: str
    weights: Float32  # (inner, columns)
    replaced: tuple[str, ...]  # outputs of the nodes that quantise, multiply and scale


def rewrite(source: Path, *, precision: str) -> bytes:
    """The serialised graph, with the features (its first output) as its only output."""
    model = read_graph_file(source)
    editor = Editor(model.graph)
    products = editor.products()
    if precision == "int8":
        written = {product.y: editor.seven_bit(product) for product in editor.smooth(products)}
    else:
        written = {product.y: editor.exact(product) for product in products}
    editor.replace(products, written)
    del model.graph.output[1:]
    serialised: bytes = model.SerializeToString()
    return serialised


class Editor:
    """A graph with its tensors by name, its nodes by what they give, and room for new ones."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.tensors = {tensor.name: tensor for tensor in graph.initializer}
        self.maker = {output: node for node in graph.node for output in node.output}
        self._rows: dict[str, tuple[str, str, str]] = {}  # activations -> codes, their zero, their steps
        self._fresh: list[Any] = []

    def value(self, name: str) -> Any:
        """The stored tensor as an array."""
        return to_array(self.tensors[name])

    def store(self, name: str, value: Any) -> str:
        """The name, now of this tensor."""
        fresh = from_array(np.ascontiguousarray(value), name)
        if name in self.tensors:
            self.tensors[name].CopyFrom(fresh)
        else:
            self.graph.initializer.append(fresh)
            self.tensors[name] = self.graph.initializer[-1]
        return name

    def op(self, kind: str, *inputs: str, output: str, **attributes: Any) -> str:
        """The output of a new node."""
        self._fresh.append(make_node(kind, list(inputs), output, **attributes))
        return output

    def products(self) -> list[Product]:
        """Every chain DynamicQuantizeLinear, MatMulInteger, Cast, Mul of the graph."""
        users: dict[str, list[Any]] = {}
        for node in self.graph.node:
            for name in node.input:
                users.setdefault(name, []).append(node)
        found = []
        for node in self.graph.node:
            if node.op_type == "MatMulInteger":
                quantise = self.maker[node.input[0]]
                scaled = users[users[node.output[0]][0].output[0]][0]
                steps = self.maker[scaled.input[1]]
                step = next(name for name in steps.input if name in self.tensors)
                weights = self.value(node.input[1]).astype(np.float32) * self.value(step)
                chain = (*quantise.output, *node.output, *users[node.output[0]][0].output, *steps.output)
                found.append(Product(node.output[0], quantise.input[0], scaled.output[0], weights, chain))
        return found

    def smooth(self, products: list[Product]) -> list[Product]:
        """The products with the ranges of their channels shared out between layer norms and weights."""
        groups: dict[str, list[Product]] = {}
        for product in products:
            groups.setdefault(product.x, []).append(product)
        smoothed = []
        for x, group in groups.items():
            norm = self._norm(x)
            factor = np.ones(len(group[0].weights))
            if norm is not None:
                gain, shift = (self.value(name).astype(np.float64) for name in norm)
                largest = np.max([np.abs(p.weights).max(axis=1) for p in group], axis=0).astype(np.float64)
                factor = np.sqrt((SPREAD * np.abs(gain) + np.abs(shift)) / largest)  # (inner,)
                for name, value in zip(norm, (gain / factor, shift / factor), strict=True):
                    self.store(name, value.astype(np.float32))
            smoothed += [replace(p, weights=(p.weights * factor[:, None]).astype(np.float32)) for p in group]
        return smoothed

    def _norm(self, x: str) -> tuple[str, str] | None:
        """Gain and shift of the layer norm that gives `x`, where one does."""
        add = self.maker.get(x)
        if add is None or add.op_type != "Add" or add.input[1] not in self.tensors:
            return None
        mul = self.maker.get(add.input[0])
        if mul is None or mul.op_type != "Mul" or mul.input[1] not in self.tensors:
            return None
        return mul.input[1], add.input[1]

    def exact(self, product: Product) -> list[Any]:
        """The product in float32."""
        self._fresh = []
        weights = self.store(f"{product.y}.weights", product.weights)
        self.op("MatMul", product.x, weights, output=product.y)
        return self._fresh

    def seven_bit(self, product: Product) -> list[Any]:
        """The product of 8-bit activations, one range per token, and 7-bit weights, one step per column."""
        self._fresh = []
        codes, zero, row_steps = self._quantised_rows(product.x, product.weights.shape[0])
        steps = np.maximum(np.abs(product.weights).max(axis=0), np.float32(1e-12)) / np.float32(MOST)  # (columns,)
        weights = self.store(f"{product.y}.weights", np.round(product.weights / steps).astype(np.int8))
        whole = self.op("MatMulInteger", codes, weights, zero, output=f"{product.y}.whole")
        wide = self.op("Cast", whole, output=f"{product.y}.wide", to=1)
        by_row = self.op("Mul", wide, row_steps, output=f"{product.y}.by_row")
        self.op("Mul", by_row, self.store(f"{product.y}.steps", steps), output=product.y)
        return self._fresh

    def _quantised_rows(self, x: str, inner: int) -> tuple[str, str, str]:
        """Codes of the activations, the level of 0, and one step per token; made once for all products of `x`."""
        if x in self._rows:
            return self._rows[x]
        gelu = self._is_gelu(x)
        zero = GELU_ZERO if gelu else (LEVELS + 1) // 2
        above = LEVELS - zero
        if gelu:
            least = self.store("rows.gelu", np.float32(GELU_DEPTH / zero * above))
            largest = self.op("ReduceMax", x, output=f"{x}.max", axes=[-1], keepdims=1)
        else:
            least = self.store("rows.least", np.float32(1e-12))
            size = self.op("Abs", x, output=f"{x}.abs")
            largest = self.op("ReduceMax", size, output=f"{x}.max", axes=[-1], keepdims=1)
        bounded = self.op("Max", largest, least, output=f"{x}.range")
        steps = self.op("Mul", bounded, self.store(f"rows.{above}", np.float32(1 / above)), output=f"{x}.steps")
        flat_steps = self.op("Reshape", steps, self.store("rows.all", np.array([-1])), output=f"{x}.flat_steps")
        flat = self.op("Reshape", x, self.store(f"rows.by_{inner}", np.array([-1, inner])), output=f"{x}.flat")
        one_zero = self.store(f"rows.zero_{zero}", np.uint8(zero))
        count = self.op("Shape", flat_steps, output=f"{x}.count")
        zeros = self.op("Expand", one_zero, count, output=f"{x}.zeros")
        flat_codes = self.op("QuantizeLinear", flat, flat_steps, zeros, output=f"{x}.flat_codes", axis=0)
        codes = self.op("Reshape", flat_codes, self.op("Shape", x, output=f"{x}.shape"), output=f"{x}.codes")
        self._rows[x] = (codes, one_zero, steps)
        return self._rows[x]

    def _is_gelu(self, x: str) -> bool:
        """Whether `x` is something times its own sigmoid, and so never far below 0."""
        node = self.maker.get(x)
        if node is None or node.op_type != "Mul":
            return False
        return any(name in self.maker and self.maker[name].op_type == "Sigmoid" for name in node.input)

    def replace(self, products: list[Product], written: dict[str, list[Any]]) -> None:
        """Put the new nodes in place of the old, and drop the tensors that nothing reads."""
        place = {p.node: p.y for p in products}
        gone = {name for p in products for name in (*p.replaced, p.y)}
        nodes: list[Any] = []
        for node in self.graph.node:
            if node.output[0] in place:
                nodes += written[place[node.output[0]]]
            elif node.output[0] not in gone:
                nodes.append(node)
        read = {name for node in nodes for name in node.input}
        kept = [tensor for tensor in self.graph.initializer if tensor.name in read]
        del self.graph.node[:], self.graph.initializer[:]
        self.graph.node.extend(nodes)
        self.graph.initializer.extend(kept)
