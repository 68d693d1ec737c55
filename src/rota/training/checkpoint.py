"""Checkpoint: weights in safetensors and the TOML that rebuilds the network; nothing is unpickled."""

import os
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save

from rota.errors import InputError
from rota.models.base import Network
from rota.models.blueprint import Blueprint
from rota.toml import read_recipe, write_recipe

WEIGHTS, TABLE = "model.safetensors", "model.toml"


def save_checkpoint(folder: Path, blueprint: Blueprint, network: Network) -> None:
    """Write ``model.toml`` and ``model.safetensors``; each replaces an earlier one only when complete."""
    folder.mkdir(parents=True, exist_ok=True)
    write_recipe(folder / TABLE, blueprint)
    weights = folder / f".{WEIGHTS}.part"
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    weights.write_bytes(save(state))  # save_file would make it unreadable to other people
    os.replace(weights, folder / WEIGHTS)


def load_checkpoint(folder: Path) -> tuple[Blueprint, Network]:
    """Rebuild a network from its folder, in evaluation mode.

    Raises:
        InputError: A file is missing, or does not fit the other.
    """
    blueprint = read_recipe(folder / TABLE, Blueprint)
    network = blueprint.build()
    weights = folder / WEIGHTS
    if not weights.is_file():
        raise InputError(f"{weights}: no such file; expected the weights beside {TABLE}")
    try:
        network.load_state_dict(load_file(weights))
    except (RuntimeError, SafetensorError) as error:
        reason = str(error).strip().replace("\n", " ")
        raise InputError(f"{weights} does not fit {folder / TABLE}: {reason}") from error
    network.eval()
    return blueprint, network
