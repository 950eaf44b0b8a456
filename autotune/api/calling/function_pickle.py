"""Functions as bytes for another process of the same interpreter, and as a digest.

A function of a module that the other process can import goes by its name. Functions of
``__main__``, of notebooks, lambdas and closures go by value: their code, default values, the global
names that they use and the variables of their closure. So do simple classes of ``__main__``.
"""

import dis
import hashlib
import importlib
import io
import marshal
import pickle
import sys
import sysconfig
import types
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from autotune.api.calling import worker

_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"})
_UNMADE = frozenset({"__dict__", "__weakref__", "__module__", "__qualname__", "__doc__"})
"""Members of a class that it has without being given them, or that do not matter."""


def dumped(value: object) -> bytes:
    """The bytes of a value with the functions in it; raises what ``pickle`` raises."""
    stream = io.BytesIO()
    _ByValue(stream).dump(value)
    return stream.getvalue()


def digest_of(value: object) -> str:
    """A digest of a value with the functions in it, the same in every process: 32 hex digits.

    Lines and file names do not count; the files of modules that are the user's do.
    """
    made = hashlib.sha256()
    stream = io.BytesIO()
    pickler = _Essence(stream)
    pickler.dump(value)
    for item in pickler.queue:  # grows on the way
        pickler.dump(_essence_state(item))
    made.update(stream.getvalue())
    for path in sorted(pickler.files):
        made.update(Path(path).read_bytes())
    return made.hexdigest()[:32]


class _ByValue(pickle.Pickler):
    """Pickles functions and classes that no other process can import."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=5)
        self.modules: dict[int, int] = {}
        """Numbers of the modules of functions, so that those of one share its global names."""

    def reducer_override(self, value: Any) -> Any:  # noqa: ANN401 - as pickle declares it
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        if isinstance(value, staticmethod | classmethod):
            return type(value), (value.__func__,)
        if isinstance(value, property):
            return property, (value.fget, value.fset, value.fdel)
        if isinstance(value, types.FunctionType) and not is_importable(value):
            module = self.modules.setdefault(id(value.__globals__), len(self.modules))
            cells = len(value.__closure__ or ())
            named = (value.__name__, value.__qualname__)
            made = (marshal.dumps(value.__code__), module, *named, cells)
            return worker.make_function, made, _state(value), None, None, worker.set_function
        if type(value) is type and not is_importable(value):
            of_class = (value.__name__, value.__bases__, value.__qualname__)
            return worker.make_class, of_class, _members(value), None, None, worker.set_class
        return NotImplemented


class _Essence(pickle.Pickler):
    """Pickles what makes a value, and nothing that differs from process to process."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=5)
        self.fast = True  # equal texts are written alike, whether they are one object or two
        self.queue: list[object] = []
        self.files: set[str] = set()

    def persistent_id(self, value: Any) -> object:  # noqa: ANN401 - as pickle declares it
        if isinstance(value, set | frozenset):
            return "set", sorted(map(repr, value))
        if isinstance(value, types.ModuleType):
            self._note(value)
            return "module", value.__name__
        if not isinstance(value, types.FunctionType) and type(value) is not type:
            return None
        if is_importable(value):
            self._note(sys.modules[value.__module__])
            return "name", value.__module__, value.__qualname__
        places = [i for i, item in enumerate(self.queue) if item is value]
        if not places:
            self.queue.append(value)
        return "value", places[0] if places else len(self.queue) - 1

    def reducer_override(self, value: Any) -> Any:  # noqa: ANN401 - as pickle declares it
        if isinstance(value, staticmethod | classmethod):
            return type(value), (value.__func__,)
        if isinstance(value, property):
            return property, (value.fget, value.fset, value.fdel)
        return NotImplemented

    def _note(self, module: types.ModuleType) -> None:
        """Note the file of a module that is neither Python's nor an installed package's."""
        path = getattr(module, "__file__", None)
        if path is None or Path(path).suffix != ".py":
            return
        homes = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
        if not any(Path(path).is_relative_to(home) for home in homes):
            self.files.add(path)


def is_importable(value: types.FunctionType | type) -> bool:
    """Whether another process with the same path gets a function or class by its name."""
    module = sys.modules.get(value.__module__ or "")
    if module is None or value.__module__ == "__main__":
        return False
    held: object = module
    for part in value.__qualname__.split("."):
        held = getattr(held, part, None)
    if held is not value:
        return False
    top = value.__module__.partition(".")[0]
    return top in sys.builtin_module_names or PathFinder.find_spec(top, sys.path) is not None


def _state(function: types.FunctionType) -> dict[str, Any]:
    """What a function needs beside its code."""
    names = {name for code in _codes(function.__code__) for name in _global_names(code)}
    used = {n: function.__globals__[n] for n in sorted(names) if n in function.__globals__}
    return {
        "globals": used,
        "imports": sorted(_submodules(used, function.__code__)),
        "defaults": function.__defaults__,
        "kwdefaults": function.__kwdefaults__,
        "attributes": dict(function.__dict__),
        "cells": [_content(cell) for cell in function.__closure__ or ()],
    }


def _content(cell: types.CellType) -> tuple[object, ...]:
    """What a cell holds, as a tuple; empty for a cell that holds nothing yet."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _members(made: type) -> dict[str, Any]:
    return {name: member for name, member in vars(made).items() if name not in _UNMADE}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _global_names(code: types.CodeType) -> Iterator[str]:
    return (i.argval for i in dis.get_instructions(code) if i.opname in _GLOBAL)


def _submodules(used: dict[str, Any], code: types.CodeType) -> Iterator[str]:
    """Modules inside packages that a function names: of ``scipy.sparse.eye`` scipy.sparse."""
    words = {name for inner in _codes(code) for name in inner.co_names}
    packages = [m.__name__ for m in used.values() if isinstance(m, types.ModuleType)]
    for name in list(sys.modules):
        for package in packages:
            if name.startswith(f"{package}.") and words.issuperset(
                name.removeprefix(f"{package}.").split(".")
            ):
                yield name


def _essence_state(value: object) -> object:
    """What makes a function or a class, as plain values."""
    if isinstance(value, types.FunctionType):
        return _essence(value.__code__), _state(value)
    assert isinstance(value, type)
    return value.__name__, value.__bases__, _members(value)


def _essence(code: types.CodeType) -> tuple[object, ...]:
    """What a code object does; neither where it stands nor in what order its sets are."""
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return code.co_code, counts, names, tuple(map(_constant, code.co_consts))


def _constant(constant: object) -> object:
    if isinstance(constant, types.CodeType):
        return _essence(constant)
    if isinstance(constant, frozenset):
        return "set", sorted(map(repr, constant))
    return repr(constant)
