"""The manifest: what went into a build and what came out, by content; no paths, no times."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import dfc
from dfc.compiler.artifacts.bundle import Bundle
from dfc.compiler.artifacts.interface import as_data

from .depfile import input_files

_ABI = re.compile(rb"#define\s+DFRT_ABI_VERSION\s+(\d+)")


def manifest(bundle: Bundle, tree: Mapping[str, bytes], target: str) -> str:
    """The JSON text; `tree` are the files of the output folder as they will be written."""
    content = {
        "app": bundle.app,
        "dfc": dfc.__version__,
        "abi": abi_version(tree),
        "target": target,
        "params": dict(sorted(bundle.params)),
        "inputs": _inputs(bundle),
        "outputs": {name: digest(data) for name, data in sorted(tree.items())},
    }
    if bundle.interface is not None:
        content["interface"] = as_data(bundle.interface)
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _inputs(bundle: Bundle) -> dict[str, str]:
    """Named relative to the program's folder; a file elsewhere is named by its last part only."""
    home = os.path.dirname(os.path.abspath(bundle.inputs[0])) if bundle.inputs else os.getcwd()
    named = {_name(path, home): digest(Path(path).read_bytes()) for path in input_files(bundle)}
    return dict(sorted(named.items()))


def _name(path: str, home: str) -> str:
    relative = os.path.relpath(path, home)
    return os.path.basename(path) if relative.startswith(os.pardir) else Path(relative).as_posix()


def abi_version(tree: Mapping[str, bytes]) -> int:
    """The contract between generated code and runtime, as the runtime's header says it."""
    headers = (data for name, data in tree.items() if "dfrt" in name and name.endswith(".h"))
    return next((int(found[1]) for data in headers if (found := _ABI.search(data))), 0)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
