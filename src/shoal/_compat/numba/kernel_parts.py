"""Kernels that other kernels call, compiled as parts of their callers.

numba generates a Python wrapper and machine code for every kernel, and optimizes a callee on its
own and again inside each caller. A part has its types and unoptimized code only: its callers
include this code and optimize it once. numba documents `pipeline_class`, not the classes below.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

__all__ = ["PartCompiler"]


class PartCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler for a function that only compiled code calls."""

    def define_pipelines(self) -> Any:
        """Return numba's pipelines, after a change of what they generate code with."""
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.targetctx = state.targetctx.subtarget()
        state.targetctx.get_executable = _make_placeholder
        return super().define_pipelines()


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """Code that is neither optimized nor loaded, until a caller includes it."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def _make_placeholder(library: Any, description: Any, environment: Any) -> Any:
    """Return what represents the part in numba's tables; it cannot be called."""
    name = description.qualname.split(".")[-1]
    module = description.lookup_module()
    return _dynfunc.make_function(module, name, "a part", 0, environment, (library,))
