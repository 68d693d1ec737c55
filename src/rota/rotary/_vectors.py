"""Instructions that numba has no words for: whole vectors of pairs, addresses, and a counter of all threads.

A compiler that meets pairs one by one shuffles them into vectors of first and of second parts, and back. As
vectors in memory order they need one exchange within pairs and one sum that alternates its sign, which
processors have. Points that an index names are read one by one, each as a whole: an instruction that gathers
them may take longer. Written in LLVM's own terms, for any processor; import this file only where numba is.
"""

import importlib
import inspect
from collections.abc import Sequence
from typing import Any

__all__: list[str] = []

_intrinsic = importlib.import_module("numba.extending").intrinsic
_types = importlib.import_module("numba").types
_ir = importlib.import_module("llvmlite.ir")

WIDTH = 64  # bytes of a vector: a line of the cache; where vectors are shorter, it becomes several


def _memory(_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(_types.voidptr))

    return _types.voidptr(_types.int64), generate


def _take(_context: Any, counter: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = context.get_constant(_types.int64, 1)
        return builder.atomic_rmw("add", arguments[0], one, "monotonic")

    return _types.int64(_types.CPointer(_types.int64)), generate


def _turn(_context: Any, x: Any, start: Any, out: Any, to: Any, points: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _Vectors(context, builder, signature)
        x, start, out, to, points, at = arguments
        turned = vector.product(vector.load(0, x, start), vector.load(4, points, at))
        vector.store(turned, 2, out, to)
        return context.get_dummy_value()

    return _types.void(x, _types.int64, out, _types.int64, points, _types.int64), generate


def _turn_gathered(
    _context: Any, x: Any, start: Any, out: Any, to: Any, points: Any, at: Any, index: Any, begin: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _Vectors(context, builder, signature)
        x, start, out, to, points, at, index, begin = arguments
        wanted = [vector.index(6, index, begin, pair) for pair in range(vector.width // 2)]
        parts = [vector.load(4, points, builder.add(at, place), 2) for place in wanted]
        turned = vector.product(vector.load(0, x, start), vector.joined(parts))
        vector.store(turned, 2, out, to)
        return context.get_dummy_value()

    number = _types.int64
    return _types.void(x, number, out, number, points, number, index, number), generate


def _sum_across(_context: Any, output: Any, y: Any, grad: Any, g: Any, totals: Any, to: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _Vectors(context, builder, signature)
        output, y, grad, g, totals, to = arguments
        vector.add_across(vector.load(0, output, y), vector.load(2, grad, g), 4, totals, to)
        return context.get_dummy_value()

    number = _types.int64
    return _types.void(output, number, grad, number, totals, number), generate


def _turn_back(
    _context: Any, output: Any, y: Any, grad: Any, g: Any, totals: Any, to: Any, out: Any, x: Any,
    points: Any, at: Any,
) -> Any:  # fmt: skip
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _Vectors(context, builder, signature)
        output, y, grad, g, totals, to, out, x, points, at = arguments
        gradient = vector.load(2, grad, g)
        vector.add_across(vector.load(0, output, y), gradient, 4, totals, to)
        vector.store(vector.product(gradient, vector.load(8, points, at), back=True), 6, out, x)
        return context.get_dummy_value()

    n = _types.int64
    return _types.void(output, n, grad, n, totals, n, out, n, points, n), generate


class _Vectors:
    """Vectors of a row's numbers, in the block that is being written."""

    def __init__(self, context: Any, builder: Any, signature: Any) -> None:
        self.context, self.builder, self.arrays = context, builder, signature.args
        self.width = 8 * WIDTH // signature.args[0].dtype.bitwidth

    def index(self, argument: int, array: Any, begin: Any, pair: int) -> Any:
        """Where in a token's numbers the points of a pair begin."""
        place = self.builder.add(begin, self.context.get_constant(_types.int64, pair))
        wanted = self.builder.load(self._address(argument, array, place))
        return self.builder.shl(wanted, self.context.get_constant(_types.int64, 1))

    def load(self, argument: int, array: Any, begin: Any, width: int | None = None) -> Any:
        address = self._address(argument, array, begin)
        kind = _ir.VectorType(address.type.pointee, width or self.width)
        found = self.builder.load(self.builder.bitcast(address, kind.as_pointer()))
        found.align = self._bytes(argument)
        return found

    def store(self, vector: Any, argument: int, array: Any, begin: Any) -> None:
        address = self.builder.bitcast(self._address(argument, array, begin), vector.type.as_pointer())
        self.builder.store(vector, address).align = self._bytes(argument)

    def joined(self, parts: Sequence[Any]) -> Any:
        """One vector of several, two by two."""
        while len(parts) > 1:
            width = 2 * parts[0].type.count
            parts = [self._chosen(*two, range(width)) for two in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    def product(self, features: Any, points: Any, *, back: bool = False) -> Any:
        """Of complex numbers, the points' conjugates to turn back; every product and every sum is rounded."""
        places = range(self.width)
        cosine = self._chosen(points, points, [place & ~1 for place in places])
        sine = self._chosen(points, points, [place | 1 for place in places])
        own, across = self.builder.fmul(features, cosine), self.builder.fmul(self._partners(features), sine)
        less, more = self.builder.fsub(own, across), self.builder.fadd(own, across)
        first, second = (more, less) if back else (less, more)
        return self._chosen(first, second, [place + self.width * (place & 1) for place in places])

    def add_across(self, output: Any, grad: Any, argument: int, totals: Any, begin: Any) -> None:
        """Add to the totals of pairs how far a gradient points to where each pair would turn."""
        products = self.builder.fmul(output, self._partners(grad))
        one, two = (self._chosen(products, products, range(first, self.width, 2)) for first in (0, 1))
        across, before = self.builder.fsub(one, two), self.load(argument, totals, begin, self.width // 2)
        if across.type != before.type:
            across = self.builder.fpext(across, before.type)
        self.store(self.builder.fadd(before, across), argument, totals, begin)

    def _partners(self, features: Any) -> Any:
        return self._chosen(features, features, [place ^ 1 for place in range(self.width)])

    def _bytes(self, argument: int) -> int:
        return int(self.arrays[argument].dtype.bitwidth // 8)

    def _address(self, argument: int, array: Any, begin: Any) -> Any:
        memory = self.context.make_array(self.arrays[argument])(self.context, self.builder, array).data
        return self.builder.gep(memory, [begin])

    def _chosen(self, one: Any, two: Any, places: Sequence[int]) -> Any:
        mask = _ir.Constant(_ir.VectorType(_ir.IntType(32), len(places)), list(places))
        return self.builder.shuffle_vector(one, two, mask)


memory_at = _intrinsic(inspect.unwrap(_memory))  # an address becomes a pointer
next_part = _intrinsic(inspect.unwrap(_take))  # how many parts were taken before, by all threads
turn_vector = _intrinsic(inspect.unwrap(_turn))  # `WIDTH` bytes of x by as many of points
turn_vector_gathered = _intrinsic(inspect.unwrap(_turn_gathered))  # by the points that an index names
sum_vector_across = _intrinsic(inspect.unwrap(_sum_across))  # of outputs and gradients, to float64 totals
turn_vector_back = _intrinsic(inspect.unwrap(_turn_back))  # such a sum, and the gradients turned back
