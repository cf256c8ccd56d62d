"""Docstrings of public functions are complete: every parameter is described, and an example runs.

The examples themselves run with the doctests of the modules.
"""

from __future__ import annotations

import importlib.util
import inspect
import re

import shoal

PACKAGES = """
    shoal shoal.comparison shoal.datasets shoal.dp shoal.evidence shoal.hierarchies
    shoal.identifiers shoal.inspection shoal.metrics shoal.projects shoal.reading shoal.report
    shoal.risk shoal.robust
    shoal.sklearn shoal.utility
""".split()
_BLOCK = re.compile(r"^Parameters:\n((?: {4}.*\n?|\n(?= {4}))+)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+(?:, \w+)*):", re.MULTILINE)


def installed():
    """The packages whose extras are installed."""
    without = set() if importlib.util.find_spec("torch") else {"shoal.robust"}
    return [package for package in PACKAGES if package not in without]


def public(package):
    """The module and its public names: those of `__all__`, or else those that it defines."""
    name = package.rpartition(".")[2]
    module = getattr(shoal, name, None) or importlib.import_module(package)
    own = [name for name, it in vars(module).items() if getattr(it, "__module__", "") == package]
    return module, getattr(module, "__all__", [name for name in own if not name.startswith("_")])


def functions(package):
    module, names = public(package)
    found = {name: getattr(module, name) for name in names}
    return {name: it for name, it in found.items() if inspect.isfunction(it)}


def described(text):
    """The names in the `Parameters:` block of a docstring."""
    block = _BLOCK.search(text)
    entries = _ENTRY.findall(block[1]) if block else []
    return {name for entry in entries for name in entry.split(", ")}


def faults(function):
    """What a docstring lacks, and the names that it describes although they do not exist."""
    text = inspect.getdoc(function) or ""
    known, stated = set(inspect.signature(function).parameters), described(text)
    lacking = [f"{name} is not described" for name in sorted(known - stated)]
    lacking += [f"{name} is no parameter" for name in sorted(stated - known)]
    return lacking if ">>> " in text else [*lacking, "no example"]


def test_every_public_function_describes_its_parameters_and_has_an_example():
    found = {
        (package, name): faults(function)
        for package in installed()
        for name, function in functions(package).items()
    }
    assert {name: faulty for name, faulty in found.items() if faulty} == {}


def test_every_public_package_is_checked():
    modules = {f"shoal.{n}" for n in shoal.__all__ if inspect.ismodule(getattr(shoal, n))}
    assert modules <= set(PACKAGES)
    assert sum(len(functions(package)) for package in installed()) > 100


def test_every_public_class_has_a_docstring_of_its_own():
    found = [
        (package, name, vars(getattr(module, name)).get("__doc__"))
        for package in installed()
        for module, names in [public(package)]
        for name in names
        if inspect.isclass(getattr(module, name))
    ]
    assert [(package, name) for package, name, text in found if not text] == []


def test_a_docstring_that_lacks_a_parameter_or_an_example_is_found():
    def complete(rows, seed=0):
        """Draw rows.

        Parameters:
            rows: How many,
                from 1.
            seed: The seed.

        >>> 1
        1
        """

    def poor(rows, seed):
        """Draw rows.

        Parameters:
            rows: How many.
            count: Gone.

        Returns:
            seed: Not a parameter.
        """

    assert faults(complete) == []
    assert faults(poor) == ["seed is not described", "count is no parameter", "no example"]
