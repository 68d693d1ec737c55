"""KeyCache: rotated keys and values of histories that grow, asked at any now."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from rota.encodings.base import Rotation
from rota.encodings.bias import LogitBias
from rota.errors import InputError


class KeyCache:
    """Keys, rotated by their own time and position, and values, of one layer and a batch of users.

    A key that is rotated by its own time alone stays valid whatever now is, so that a request rotates one
    query. Each user has the same room; when it is full, a new event takes the place of the oldest.

    What cannot be cached is refused: rotations of the keys by the gap to now, biases of pairs, and, in layers
    whose input has seen the time of the request (``sees_now``), a last position that was computed for a now
    which turned out not to be the time of the next event.

    Attributes:
        rotation: Encoding of the layer.
        keys: Rotated, shape ``(batch, kv_heads, capacity, head_dim)``, in no order.
        values: Shape ``(batch, kv_heads, capacity, head_dim)``.
        times: Of the events, int64 clock ticks, shape ``(batch, capacity)``.
        mask: Which places hold an event, shape ``(batch, capacity)``.
        counts: Events so far of each user, those that have left included, shape ``(batch,)``.
    """

    def __init__(
        self,
        rotation: Rotation,
        *,
        batch: int,
        num_kv_heads: int,
        head_dim: int,
        capacity: int,
        sees_now: bool = False,
        bias: LogitBias | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        """Make room.

        Args:
            rotation: Encoding of the layer.
            batch: Users.
            num_kv_heads: Key heads.
            head_dim: Features of a head.
            capacity: Events kept for each user.
            sees_now: The layer's input has seen the time of the request: true in every layer above the first
                of a model whose queries stand at the request, and in the first where an input feature does.
            bias: The layer's bias of pairs, which there must not be.
            dtype: Of keys and values.
            device: Where they lie.

        Raises:
            InputError: The encoding cannot be cached, or there is a bias.
        """
        if not rotation.cacheable:
            raise InputError(
                f"{type(rotation).__name__} rotates keys by more than their own time and position, "
                "which cannot be cached: rotate all keys anew at each request"
            )
        if bias is not None:
            raise InputError(
                f"{type(bias).__name__} is a bias of pairs, which changes with now and cannot be cached with "
                "the keys: compute the attention in full at each request"
            )
        if min(batch, num_kv_heads, head_dim, capacity) < 1:
            raise InputError(
                f"cache of {batch} users, {num_kv_heads} key heads, {head_dim} features, {capacity} events: "
                "expected at least one of each"
            )
        once = torch.zeros((1, 1), dtype=torch.int64, device=device)
        rotation.rotate_key(  # refuses sizes that it was not built for
            torch.zeros((1, num_kv_heads, 1, head_dim), dtype=dtype, device=device), time=once, position=once
        )
        self.rotation, self.capacity, self.sees_now = rotation, capacity, sees_now
        shape = (batch, num_kv_heads, capacity, head_dim)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros(shape, dtype=dtype, device=device)
        self.times = torch.zeros((batch, capacity), dtype=torch.int64, device=device)
        self.mask = torch.zeros((batch, capacity), dtype=torch.bool, device=device)
        self.counts = torch.zeros(batch, dtype=torch.int64, device=device)
        self._asked_at = torch.zeros((batch, capacity), dtype=torch.int64, device=device)

    def append(
        self,
        k: Float[Tensor, "batch kv_heads new head_dim"],
        v: Float[Tensor, "batch kv_heads new head_dim"],
        *,
        time: Int64[Tensor, "batch new"],
        query_time: Int64[Tensor, "batch new"] | None = None,
        lengths: Int64[Tensor, " batch"] | None = None,
    ) -> None:
        """Add events after those that are there; each key is rotated by its time and its count.

        Args:
            k: Keys, not rotated, shape ``(batch, kv_heads, new, head_dim)``.
            v: Values, shape ``(batch, kv_heads, new, head_dim)``.
            time: Of the events, int64 clock ticks, shape ``(batch, new)``.
            query_time: Where the input has seen it: the time at which each position was asked, which is the
                time of the next event, and for the last position now.
            lengths: Events of each user that are no padding on the right; by default all.

        Raises:
            InputError: Shapes do not fit, or a last position was computed for a now that is not the time of
                the event that follows: drop it (`drop_last`), compute it anew and append it first.
        """
        count = self._require_fitting(k, v, time, query_time, lengths)
        self._require_settled(time, query_time, count)
        step = torch.arange(k.shape[2], device=k.device)
        position = self.counts[:, None] + step
        rotated = self.rotation.rotate_key(k, time=time, position=position).to(self.keys.dtype)
        # Of more events than there is room for, the last.
        kept = (step < count[:, None]) & (step >= count[:, None] - self.capacity)
        row, column = kept.nonzero(as_tuple=True)
        place = (position % self.capacity)[row, column]
        self.keys[row, :, place] = rotated[row, :, column]
        self.values[row, :, place] = v[row, :, column].to(self.values.dtype)
        self.times[row, place] = time[row, column]
        self.mask[row, place] = True
        if query_time is not None:
            self._asked_at[row, place] = query_time[row, column]
        self.counts += count

    def drop_last(self) -> None:
        """Forget each user's last event, for instance to append it anew, as the next event sees it."""
        row = torch.arange(len(self.counts), device=self.counts.device)
        there = self.counts > 0
        self.mask[row[there], ((self.counts - 1) % self.capacity)[there]] = False
        self.counts = (self.counts - 1).clamp(min=0)

    def evict(self, before: int | Int64[Tensor, " batch"]) -> None:
        """Forget events earlier than a time, in clock ticks: one for all users, or one each.

        Raises:
            InputError: It is not an int, nor int64 of shape ``(batch,)``.
        """
        limit = before
        if type(before) is not int:  # a truth value is no time
            _require_ticks("before", before, tuple(self.counts.shape))
            limit = torch.as_tensor(before)[:, None]
        self.mask &= self.times >= limit

    def attend(
        self, q: Float[Tensor, "batch heads query head_dim"], *, now: Int64[Tensor, "batch query"]
    ) -> Float[Tensor, "batch heads query head_dim"]:
        """Softmax attention of queries over all that is cached.

        Args:
            q: Queries, not rotated, shape ``(batch, heads, query, head_dim)``; they stand at the position of
                the last event.
            now: Time at which each asks, int64 clock ticks, shape ``(batch, query)``.

        Raises:
            InputError: A user has no event in the cache, or shapes do not fit.
        """
        batch, kv_heads, _, width = self.keys.shape
        fits = isinstance(q, Tensor) and q.ndim == 4 and q.shape[0] == batch and q.shape[3] == width
        if not fits or q.shape[1] % kv_heads:
            raise InputError(
                f"queries of shape {_shape(q)}: the cache expects ({batch}, a multiple of {kv_heads}, query, "
                f"{width})"
            )
        _require_ticks("now", now, (batch, q.shape[2]))
        if not self.mask.any(1).all():
            empty = int((~self.mask.any(1)).nonzero()[0])
            raise InputError(f"user {empty} of the batch has no event in the cache: append its history first")
        position = (self.counts - 1)[:, None].expand(now.shape)
        rotated = self.rotation.rotate_query(q, time=now, position=position)
        grouped = q.shape[1] != self.keys.shape[1]
        return scaled_dot_product_attention(
            rotated.to(self.keys.dtype), self.keys, self.values, self.mask[:, None, None], enable_gqa=grouped
        )

    def _require_fitting(
        self, k: Tensor, v: Tensor, time: Tensor, query_time: Tensor | None, lengths: Tensor | None
    ) -> Tensor:
        """Refuse what does not fit before anything is written; returns each user's number of new events."""
        batch, heads, _, width = self.keys.shape
        new = k.shape[2] if isinstance(k, Tensor) and k.ndim == 4 else 0
        wanted = (batch, heads, new, width)
        if not (isinstance(v, Tensor) and isinstance(k, Tensor) and k.shape == v.shape == wanted):
            raise InputError(
                f"keys of shape {_shape(k)} and values of {_shape(v)}: the cache expects ({batch}, {heads}, "
                f"new, {width})"
            )
        _require_ticks("time", time, (batch, new))
        if query_time is not None:
            _require_ticks("query_time", query_time, (batch, new))
        if lengths is None:
            return torch.full_like(self.counts, new)
        _require_ticks("lengths", lengths, (batch,))
        if len(lengths) and not 0 <= int(lengths.min()) <= int(lengths.max()) <= new:
            raise InputError(f"lengths {lengths.tolist()}: expected numbers from 0 to the {new} new events")
        return lengths

    def _require_settled(self, time: Tensor, query_time: Tensor | None, count: Tensor) -> None:
        """Refuse positions that were asked at another time than that of the event that follows them."""
        if not self.sees_now or not time.shape[1]:
            return
        if query_time is None:
            raise InputError(
                "the layer's input has seen the time of the request: pass query_time, the time at which each "
                "position was asked"
            )
        row = torch.arange(len(self.counts), device=time.device)
        last = (self.counts - 1) % self.capacity
        asked = torch.cat((self._asked_at[row, last, None], query_time[:, :-1]), 1)
        there = torch.arange(time.shape[1], device=time.device) < count[:, None]
        there[:, 0] &= self.mask[row, last] & (self.counts > 0)
        wrong = there & (asked != time)
        if wrong.any():
            user, event = wrong.nonzero()[0].tolist()
            raise InputError(
                f"user {user} of the batch: a position was computed for now = {int(asked[user, event])}, and "
                f"the event after it came at {int(time[user, event])}: drop_last(), compute it anew with "
                "query_time at that event, and append both"
            )


def _shape(value: object) -> object:
    return tuple(value.shape) if isinstance(value, Tensor) else repr(value)


def _require_ticks(name: str, ticks: object, shape: tuple[int, ...]) -> None:
    if not isinstance(ticks, Tensor) or ticks.dtype != torch.int64 or tuple(ticks.shape) != shape:
        given = f"{ticks.dtype} of shape {tuple(ticks.shape)}" if isinstance(ticks, Tensor) else repr(ticks)
        raise InputError(f"{name} is {given}: the cache expects torch.int64 of shape {shape}")
