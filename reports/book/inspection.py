"""Looks inside the bases' nets: where they are right, slopes, kernels, channels before pooling; published figures
beside ours."""

from collections.abc import Sequence
from typing import TypeVar

from ablations.registry import Registry
from gonn_core.errors import markdown_escape
from reports.book import accuracy as book_accuracy
from reports.book import channels as book_channels
from reports.book import slopes as book_slopes
from reports.book import taps as book_taps
from reports.page import Section
from reports.results.nets import MeasuredNet
from reports.weights.channels import pools
from reports.weights.layers import net_weights, published_inspections

TITLE = "Looks inside a net"
T = TypeVar("T")


def inspection_section(registry: Registry, nets: Sequence[MeasuredNet]) -> Section:
    """Of the bases as they stand. Raises InputError for a snapshot that cannot be read."""
    bases = [net for net in nets if net.base]
    if not bases:
        return Section(TITLE, ("No base is trained yet.",))
    weights, channels = net_weights(bases), book_channels.published_channels(registry)
    published = published_inspections(registry)
    maps = book_channels.maps_of(bases, channels)
    pictures = (
        book_accuracy.accuracy_picture(bases),
        book_slopes.slopes_picture(weights, published),
        book_taps.taps_picture(weights, published),
        *book_channels.channel_pictures(maps, channels),
    )
    tables = (
        book_accuracy.guesses_table(bases),
        book_accuracy.gap_table(bases, registry),
        book_channels.channels_table(maps, channels),
    )
    folded = (
        book_slopes.slopes_table(weights, published),
        book_taps.taps_table(weights, published),
        book_accuracy.moves_table(bases),
    )
    sentences = ["Of the bases as they stand, over all their seeds."]
    seen = [each.net for each in weights]
    drawn = [each.net for each in maps]
    gone = [net for net in bases if net not in seen]
    if gone:
        sentences.append(f"Without looks at their weights, for their snapshots are not here: {_titles(gone)}.")
    older = [net for net in seen if pools(net) and net not in drawn]
    if older:
        sentences.append(
            "Without channels, for this version computes other numbers than the one that trained them: "
            f"{_titles(older)}."
        )
    return Section(TITLE, tuple(sentences), _known(pictures), _known(tables), _known(folded))


def _known(some: Sequence[T | None]) -> tuple[T, ...]:
    return tuple(one for one in some if one is not None)


def _titles(nets: Sequence[MeasuredNet]) -> str:
    return markdown_escape(", ".join(net.title for net in nets))
