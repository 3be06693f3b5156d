"""Who uses what, member by member, as the compiler wrote it down (`.build/debug/index/store`). Read through the toolchain's libIndexStore."""
import ctypes
import os
import shutil
from collections import defaultdict
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path

from . import tables
from .findings import error

DEFINITION, REFERENCE, IMPLICIT = 1 << 1, 1 << 2, 1 << 8
RECORD = 2


class Text(Structure):
    _fields_ = [("data", c_void_p), ("length", c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


Visit = CFUNCTYPE(c_bool, c_void_p, c_void_p)


class Store:
    """An index store."""

    def __init__(self, path):
        swift = Path(os.path.realpath(shutil.which("swift")))
        self.library = ctypes.CDLL(str(swift.parent.parent / "lib/libIndexStore.so"))
        for name, result, arguments in [
            ("store_create", c_void_p, [c_char_p, POINTER(c_void_p)]),
            ("unit_reader_create", c_void_p, [c_void_p, c_char_p, POINTER(c_void_p)]), ("unit_reader_dispose", None, [c_void_p]),
            ("unit_reader_get_main_file", Text, [c_void_p]), ("unit_reader_dependencies_apply_f", c_bool, [c_void_p, c_void_p, Visit]),
            ("unit_dependency_get_kind", c_uint, [c_void_p]), ("unit_dependency_get_name", Text, [c_void_p]),
            ("record_reader_create", c_void_p, [c_void_p, c_char_p, POINTER(c_void_p)]), ("record_reader_dispose", None, [c_void_p]),
            ("record_reader_occurrences_apply_f", c_bool, [c_void_p, c_void_p, Visit]),
            ("occurrence_get_symbol", c_void_p, [c_void_p]), ("occurrence_get_roles", c_uint64, [c_void_p]),
            ("occurrence_get_line_col", None, [c_void_p, POINTER(c_uint), POINTER(c_uint)]),
            ("symbol_get_usr", Text, [c_void_p]), ("symbol_get_name", Text, [c_void_p]),
        ]:
            function = getattr(self.library, "indexstore_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        error = c_void_p()
        self.path = Path(path)
        self.store = self.store_create(str(path).encode(), byref(error))
        if not self.store:
            raise OSError(f"{path} is no index store")

    def files(self, prefix):
        """(main file, names of its records) of every unit of a file below a folder; the newest unit of each file."""
        newest = {}
        for unit in (self.path / "v5/units").iterdir():
            error = c_void_p()
            reader = self.unit_reader_create(self.store, unit.name.encode(), byref(error))
            if not reader:
                continue
            main, records = str(self.unit_reader_get_main_file(reader)), []
            if main.startswith(prefix):
                def visit(_, dependency):
                    if self.unit_dependency_get_kind(dependency) == RECORD:
                        records.append(str(self.unit_dependency_get_name(dependency)))
                    return True
                self.unit_reader_dependencies_apply_f(reader, None, Visit(visit))
                time = unit.stat().st_mtime
                if main not in newest or newest[main][0] < time:
                    newest[main] = (time, records)
            self.unit_reader_dispose(reader)
        return {main: records for main, (_, records) in newest.items()}

    def occurrences(self, record):
        """(roles, line, USR, name) of every symbol that a record names."""
        error, found = c_void_p(), []
        reader = self.record_reader_create(self.store, record.encode(), byref(error))
        if not reader:
            return found

        def visit(_, occurrence):
            line, column = c_uint(), c_uint()
            self.occurrence_get_line_col(occurrence, byref(line), byref(column))
            symbol = self.occurrence_get_symbol(occurrence)
            found.append((
                self.occurrence_get_roles(occurrence), line.value, str(self.symbol_get_usr(symbol)), str(self.symbol_get_name(symbol))))
            return True

        self.record_reader_occurrences_apply_f(reader, None, Visit(visit))
        self.record_reader_dispose(reader)
        return found


def uses(root, target="OpenCoreData"):
    """((file, line), name, file that defines it) for what files of a target use of each other, from the last debug build."""
    base = str(Path(root).resolve() / "Sources" / target) + "/"
    place = Path(root).resolve() / ".build/debug/index/store"
    if not place.is_dir():
        raise SystemExit(f"check-house: there is no index at {place}. Build first: swift build --build-tests")
    store = Store(place)
    definitions, references = {}, defaultdict(list)
    for main, records in store.files(base).items():
        if not Path(main).exists():
            continue
        inside = main[len(base):]
        for record in records:
            for roles, line, usr, name in store.occurrences(record):
                if roles & DEFINITION:
                    definitions[usr] = inside
                elif roles & REFERENCE and not roles & IMPLICIT:
                    references[inside].append((line, usr, name))
    for inside, found in references.items():
        for line, usr, name in found:
            there = definitions.get(usr)
            if there and there != inside:
                yield (inside, line), name, there


def later_floors(found):
    """Findings for what files of OpenCoreData use of floors above their own. `found` is as `uses` gives it."""
    rank = {folder: level for level, room in enumerate(tables.LAYERS) for folder in room}
    for (inside, line), name, there in found:
        mine, theirs = inside.split("/")[0], there.split("/")[0]
        if mine not in rank or theirs not in rank or rank[theirs] <= rank[mine]:
            continue
        allowed = set().union(*(names for where, names, _ in tables.LAYER_EXCEPTIONS if inside.startswith(where)), set())
        if name not in allowed:
            yield error(
                f"Sources/OpenCoreData/{inside}", line,
                f"{mine}/ uses {name} of the later floor {theirs}/ ({there}): turn the arrow, or move what is used down")
