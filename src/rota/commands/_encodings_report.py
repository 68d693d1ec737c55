"""What `rota bench encodings` prints."""

from rich.markup import escape
from rich.table import Table

from rota.commands._terminal import console, describe
from rota.recipes.encoding_bench import BATCH, HEADS, LAYERS, LENGTH, WIDTH, EncodingBench, EncodingRow
from rota.recipes.encoding_costs import EncodingCost, published_trope_flops


def show_encodings(found: EncodingBench) -> None:
    """Print what was counted and timed, and T-RoPE's published count beside ours."""
    known = found.circumstances
    describe(
        [
            ("processor", str(known["processor"])),
            ("threads", str(known["threads"])),
            ("network", f"{LAYERS} blocks, {HEADS} heads, d = {WIDTH}; {BATCH} rows of {LENGTH} events"),
        ]
    )
    console.print(_costs(found))
    trope = next((row.cost for row in found.rows if row.name == "trope"), None)
    if trope is not None:
        console.print(_published(trope))


def _costs(found: EncodingBench) -> Table:
    table = Table(
        title="Of one layer",
        title_justify="left",
        caption="Per token, q and k together: cosines taken, and arithmetic, which counts each addition, "
        "product, rounding and function once. Step: time of a training step over RoPE's, median and 95 % "
        f"interval; RoPE's own row is RoPE timed twice, the noise of this machine.{_below(found)}",
        caption_justify="left",
    )
    for name in ("", "learned", "cosines", "forward", "backward", "step / RoPE"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for rotates in (True, False):
        table.add_section()
        for row in found.rows:
            if row.rotates == rotates:
                table.add_row(*_cells(row))
    return table


def _below(found: EncodingBench) -> str:
    """How to read what is no rotation, where there is any."""
    if all(row.rotates for row in found.rows):
        return ""
    return (
        " Not rotations, and not timed: a bias adds to the logits of a token with all events of its row; an "
        "input is added once, before the layers; intervals is what the attention does more than a plain one."
    )


def _cells(row: EncodingRow) -> tuple[str, ...]:
    cost = row.cost
    counts = (cost.parameters, cost.forward.cosines, cost.forward.operations, cost.backward)
    return (escape(row.name), *(f"{count:,}" for count in counts), _ratio(row))


def _ratio(row: EncodingRow) -> str:
    if row.ratio is None:
        return "not timed"
    middle, low, high = row.ratio
    return escape(f"{middle:.3f} [{low:.3f}, {high:.3f}]")


def _published(cost: EncodingCost) -> Table:
    table = Table(
        title="T-RoPE: operations of a token, as published (App. B.2) and as counted here",
        title_justify="left",
        caption="P pairs of a head, H heads. The paper's count of the phases is of the products alone; ours "
        "reduces them to a turn and takes cosine and sine.",
        caption_justify="left",
    )
    for name in ("", "formula", "published", "counted"):
        table.add_column(name, justify="right" if name in ("published", "counted") else "left")
    counted = (cost.forward.operations, cost.features.operations, cost.learned)
    published = published_trope_flops(WIDTH // HEADS, HEADS)
    for (what, (formula, value)), mine in zip(published.items(), counted, strict=True):
        table.add_row(what, formula, f"{value:,}", f"{mine:,}")
    return table
