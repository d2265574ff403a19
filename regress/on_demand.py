"""h5py and NumPy, loaded at their first use: that takes longer than many a check, and most checks use neither."""

import importlib
from typing import Any


class _OnDemand:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


h5py = _OnDemand("h5py")
numpy = _OnDemand("numpy")
