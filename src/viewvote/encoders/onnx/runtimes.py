"""ONNX Runtime and OpenVINO behind one small interface: `open_session(path)` runs one item per call on one core.

Work is spread over cores by running several items at once (`spread`), never by splitting one item over threads nor by
putting items into a batch. That is faster on few cores, whose threads need not wait for each other after every layer,
and it makes a view's features independent of its neighbours by construction: no other view is in the same run.
`docs/results/runtimes.md` has the figures.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import CheckpointError, MissingExtraError, ModelNotFoundError, UsageError
from ...telemetry import without_openvino_telemetry
from ...views.threads import Pool

RuntimeName = Literal["onnxruntime", "openvino"]
Feeds = Mapping[str, NDArray[Any]]
T = TypeVar("T")

COPIES = 4
"""The most times OpenVINO holds one graph, and so its weights, in memory."""


@dataclass(frozen=True)
class Port:
    """An input or output of a graph; a dimension that may vary is None."""

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]


class Session(Protocol):
    """A loaded graph; `run` may be called from several threads at once."""

    @property
    def inputs(self) -> Mapping[str, Port]:
        """The graph's inputs by name."""
        ...

    @property
    def outputs(self) -> Mapping[str, Port]:
        """The graph's outputs by name."""
        ...

    def run(self, feeds: Feeds, *, output: str) -> NDArray[Any]:
        """The named output for these inputs, computed on the calling thread's core."""
        ...


def open_session(path: Path, *, runtime: str = "auto", workers: int = 1) -> Session:
    """A session for the graph in `path`, ready for `workers` runs at a time."""
    if not path.is_file():
        raise ModelNotFoundError(f"no graph at {path}; expected an .onnx file.")
    name = pick_runtime(runtime)
    return _OpenVino(path, workers=workers) if name == "openvino" else _OnnxRuntime(path)


def pick_runtime(runtime: str) -> RuntimeName:
    """The runtime that `runtime` means here; "auto" is ONNX Runtime (`docs/results/runtimes.md` has the reasons)."""
    match runtime:
        case "auto":
            return "onnxruntime"
        case "openvino" if not find_spec("openvino"):
            raise MissingExtraError.for_extra("openvino", what="The OpenVINO runtime")
        case "onnxruntime" | "openvino":
            return runtime
    raise UsageError(f"no runtime {runtime!r}; expected auto, onnxruntime or openvino.")


def count_workers(threads: int) -> int:
    """How many items run at a time: `threads`, or one per core this process may use if that is 0."""
    if threads < 0:
        raise UsageError(f"threads must be 0 (one per core) or more, got {threads}.")
    if threads:
        return threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(work: Callable[[int], T], count: int, *, pool: Pool) -> list[T]:
    """[work(0), ..., work(count - 1)], computed by the pool's threads; a single item stays on the caller's."""
    if count == 1:
        return [work(0)]
    numbers, found = iter(range(count)), dict[int, T]()

    def take() -> None:  # whoever is free does the next: as many futures as threads, not as items
        for i in numbers:
            found[i] = work(i)

    for future in [pool.submit(take) for _ in range(min(pool.count, count))]:
        future.result()
    return [found[i] for i in range(count)]


class _OnnxRuntime:
    """A graph in ONNX Runtime."""

    def __init__(self, path: Path) -> None:
        import onnxruntime as ort
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # what fails is raised, and so reported once
        self._errors: tuple[type[BaseException], ...] = (
            *(state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf),
            *(state.NotImplemented, state.RuntimeException, state.NoSuchFile, RuntimeError),
            *(state.EPFail, ValueError),  # the last: of names that are no text
        )
        self._path = path
        try:
            # Without its fallback, which tries the same again and prints on standard output.
            providers = ["CPUExecutionProvider"]
            self._session = ort.InferenceSession(str(path), options, providers=providers, enable_fallback=0)
            self.inputs = {port.name: _ort_port(port) for port in self._session.get_inputs()}
            self.outputs = {port.name: _ort_port(port) for port in self._session.get_outputs()}
        except self._errors as error:
            raise CheckpointError(f"{path} is not a graph that ONNX Runtime can run: {_first_line(error)}") from error

    def run(self, feeds: Feeds, *, output: str) -> NDArray[Any]:
        try:
            result: NDArray[Any] = self._session.run([output], dict(feeds))[0]
        except self._errors as error:
            raise CheckpointError(f"{self._path} failed to run: {_first_line(error)}") from error
        return result


class _OpenVino:
    """A graph in OpenVINO, compiled once per worker (at most COPIES times).

    One compiled model with a stream per worker would share the weights, but OpenVINO 2026.4 then gives NaN in five
    of six compilations of a text tower with int8 weights; a single stream never did.
    """

    def __init__(self, path: Path, *, workers: int) -> None:
        with without_openvino_telemetry():
            import openvino as ov

        copies = min(workers, COPIES)
        # f32: by default OpenVINO may compute in bfloat16 where the CPU has it, and features would differ by machine.
        config = {"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": workers // copies}
        config |= {"ENABLE_CPU_PINNING": False}
        self._path = path
        try:
            core = ov.Core()
            graph = core.read_model(str(path))
            models = [core.compile_model(graph, "CPU", config) for _ in range(copies)]
        except RuntimeError as error:
            raise CheckpointError(f"{path} is not a graph that OpenVINO can run: {_first_line(error)}") from error
        self.inputs = {name: _ov_port(port) for port in models[0].inputs for name in port.get_names()}
        self.outputs = {name: _ov_port(port) for port in models[0].outputs for name in port.get_names()}
        self._requests: SimpleQueue[Any] = SimpleQueue()
        for model in models:
            self._requests.put(model.create_infer_request())

    def run(self, feeds: Feeds, *, output: str) -> NDArray[Any]:
        request = self._requests.get()
        try:
            request.infer(dict(feeds), share_inputs=True)
            result: NDArray[Any] = request.get_tensor(output).data.copy()
        except RuntimeError as error:
            raise CheckpointError(f"{self._path} failed to run: {_first_line(error)}") from error
        finally:
            self._requests.put(request)
        return result


_ORT_DTYPES = {"tensor(float)": "f4", "tensor(float16)": "f2", "tensor(int64)": "i8", "tensor(int32)": "i4"}


def _ort_port(port: Any) -> Port:
    shape = tuple(size if isinstance(size, int) else None for size in port.shape)
    return Port(shape, np.dtype(_ORT_DTYPES.get(port.type, "O")))


def _ov_port(port: Any) -> Port:
    shape = tuple(size.get_length() if size.is_static else None for size in port.get_partial_shape())
    return Port(shape, np.dtype(port.get_element_type().to_dtype()))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
