"""Put compiled kernels into a wheel, if SHOAL_KERNELS names a folder of `shoal warm --store`.

Without it the wheel is for every Python and platform, and kernels are compiled on first use.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Kernels(BuildHookInterface[Any]):
    """Adds a store of kernels to a wheel, whose tag then names this Python and platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder to the data of the build."""
        folder = os.environ.get("SHOAL_KERNELS")
        if not folder or version == "editable":
            return
        build_data["force_include"][folder] = "shoal/_kernels"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-{_platform()}"


def _platform() -> str:
    """Return the platform tag.

    Kernels link to no library besides those of numba, whose wheels need glibc 2.17 on Linux.
    """
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if tag.startswith("linux_") and platform.libc_ver()[0] == "glibc":
        return tag.replace("linux_", "manylinux_2_17_", 1)
    return tag
