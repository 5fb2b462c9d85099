"""`gonn inspect`: what is inside one trained net, as a page with tables and pictures in a folder of its own."""

from pathlib import Path

from ablations.registry import Registry
from gonn_core.trial.weights import load_net
from reports.files import write_files
from reports.page import Page, Section, markdown
from reports.tables.serial import csv_text
from reports.weights.channels import channel_maps, channels_picture, channels_table
from reports.weights.layers import kernels_of, slopes_of, slopes_picture, slopes_table, taps_picture, taps_table

PAGE = "inspect.md"


def write_inspection(trial: Path, samples: int | None, registry: Registry, folder: Path) -> Path:
    """Write slopes, kernels and channels of a trial's net after `samples` (None: all) into `folder`, each with the
    published ones; the path of the page. A net without any of them has a page that says so.

    Raises InputError for a snapshot that is missing or damaged, or when the disk is full.
    """
    net, config = load_net(trial, samples)
    weights = {name: values.detach().numpy() for name, values in net.named_parameters()}
    published = [document.looks for document in registry.published.values() if document.looks is not None]
    channels = [channel for looks in published for channel in looks.channels]
    shown = []
    if slopes := slopes_of(weights):
        shown.append((slopes_table(slopes, trial.name, published), slopes_picture(slopes, published)))
    if kernels := kernels_of(weights):
        shown.append((taps_table(kernels, trial.name, published), taps_picture(kernels, published)))
    if maps := channel_maps(trial.name, net, config, channels):
        shown.append((channels_table(maps, channels), channels_picture(maps, channels)))
    sections = [Section(table.title, pictures=(picture,), tables=(table,)) for table, picture in shown]
    about = f"After {samples:,} samples" if samples else "After training"
    nothing = "It has no parametric ReLUs, no 3x3 kernels in blocks and no pooled channels."
    page = Page(f"Inside the net of trial {trial.name}", about if shown else nothing, None, tuple(sections))
    files = {f"{table.name}.csv": csv_text(table).encode() for table in page.tables}
    for picture in page.pictures:
        files |= picture.files()
    write_files(folder, {**files, PAGE: markdown(page).encode()})
    return folder / PAGE
