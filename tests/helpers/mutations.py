"""Reproducible random damage to bytes, JSON values and arrays, for the fuzz tests.

Mutation N of a file is always the same.
"""

import copy
import io
import json
import random
import zipfile

import numpy as np

INTEGERS = [0, 1, 2, 3, 7, 255, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1, 10**12]
FLOATS = [float("nan"), float("inf"), -0.0, 1e-320, 1e308, 1e38, -1e38, 0.5]
TEXTS = ["", "x", "\0", "\x1b[2J", "\u202e", "\ud800", "a\nb", "--output", "../../x", "x" * 70_000, "ngrams", "none"]


def any_value(rng):
    """Return a random JSON value, which may be invalid where it is used."""
    simple = [None, True, False, -1, 10**400, -(10**30), *INTEGERS, *FLOATS, *TEXTS]
    value = rng.choice(simple)
    for _ in range(rng.choice([0, 0, 0, 1, 2, 50])):
        value = [value] if rng.random() < 0.5 else {rng.choice(TEXTS): value}
    return value


def mutate_bytes(rng, data):
    """Cut, flip, overwrite, repeat or swap parts of ``data``."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        size = len(data)
        if not size:
            return bytes(data)
        a, b = sorted((rng.randrange(size), min(size, rng.randrange(size) + 1)))
        short = slice(a, min(size, a + rng.choice([1, 2, 4, 8, 64])))
        kind = rng.randrange(9)
        if kind == 0:
            del data[a:]
        elif kind in (1, 2):
            data[a] ^= 1 << rng.randrange(8)
        elif kind == 3:
            data[a] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, 10, 13, 34, 44, 9, 92])
        elif kind == 4:
            number = rng.choice(INTEGERS)
            width = rng.choice([2, 4, 8])
            data[a : a + width] = (number % 256**width).to_bytes(width, rng.choice(["little", "big"]))
        elif kind == 5:
            del data[short]
        elif kind == 6:
            data[a:a] = data[short] * rng.choice([1, 2, 100])
        elif kind == 7:
            data[short] = rng.randbytes(short.stop - short.start)
        else:
            data[a:b] = data[a:b][::-1] if b - a < 16 else data[:a][: b - a]
    return bytes(data)


def _paths(value, path=()):
    """Yield the path of keys to every part of a JSON value, starting with the value itself."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from _paths(part, (*path, key))


def mutate_json(rng, value):
    """Replace, remove, add or swap values anywhere in a JSON value; return a copy and the paths of the changes."""
    value = copy.deepcopy(value)
    changes = []
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        *path, last = rng.choice([path for path in _paths(value) if path])
        parent = value
        for key in path:
            parent = parent[key]
        kind = rng.randrange(6)
        if kind == 0:
            del parent[last]
        elif kind == 1 and isinstance(parent, dict):
            parent[rng.choice(TEXTS)] = any_value(rng)
        elif kind == 2 and isinstance(parent[last], int | float):
            parent[last] = rng.choice([parent[last] + 1, -parent[last], parent[last] * 1000, rng.choice(INTEGERS)])
        elif kind == 3:
            donor = value
            for key in rng.choice(list(_paths(value))):
                donor = donor[key]
            parent[last] = copy.deepcopy(donor)
        else:
            parent[last] = any_value(rng)
        changes.append((*path, last))
        if not any(_paths(value)):
            break
    return value, changes


def mutate_array(rng, array):
    """Return a random array that an attacker might substitute for ``array``."""
    kind = rng.randrange(9)
    flat = np.array(array).ravel()
    if kind <= 2 and flat.size:
        choices = [*INTEGERS, -1, -(2**31)] if flat.dtype.kind in "iu" else [*FLOATS, -1.0, 65504.0]
        for _ in range(rng.choice([1, 1, 3])):
            value = rng.choice(choices) if flat.dtype.kind in "iuf" else b"zzz"
            with np.errstate(all="ignore"):
                where = slice(None) if rng.random() < 0.1 else rng.randrange(flat.size)
                if flat.dtype.kind in "iu":
                    bounds = np.iinfo(flat.dtype)
                    flat[where] = min(max(value, bounds.min), bounds.max)
                else:
                    flat[where] = value
        return flat.reshape(array.shape)
    if kind == 3:
        dtype = rng.choice(["|u1", "|i1", "<i4", "<i8", "<f2", "<f4", "<f8"])
        with np.errstate(all="ignore"):
            return np.array(array).astype(dtype) if array.dtype.kind != "S" else np.zeros(array.shape, dtype)
    if kind == 4:
        return flat[: rng.randrange(flat.size + 1)]
    if kind == 5:
        return np.concatenate([flat, flat[: rng.randrange(flat.size + 1)]])
    if kind == 6 and array.ndim == 2:
        return np.ascontiguousarray(array.T) if rng.random() < 0.5 else np.array(array)[: rng.randrange(len(array) + 1)]
    if kind == 7:
        order = np.random.default_rng(rng.randrange(2**32)).permutation(flat.size)
        return flat[order].reshape(array.shape)
    return np.zeros_like(array) if rng.random() < 0.5 else array.reshape(rng.choice([(-1,), (1, -1), (-1, 1)]))


def npy(array):
    """Return an array as the bytes of a .npy entry."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def forged_npy(rng, array):
    """Return a .npy entry that NumPy would not write: its order, type, shape or length does not match its data."""
    dtype = rng.choice([array.dtype.str, ">f4", ">i8", "|O", "|V8", "<c16", "<U4", "|b1", "<M8[s]", "<f4"])
    shape = rng.choice([array.shape, (10**12,), (2**31, 2**31), (-1,), (0, 10**17), (1,) * 70, (10**30,), array.size])
    order = rng.choice([True, False, False, None])
    descr = [("a", dtype), ("b", "<i4")] if rng.random() < 0.2 else dtype
    text = repr({"descr": descr, "fortran_order": order, "shape": shape}).encode()
    if rng.random() < 0.2:
        text = rng.choice([b"__import__('os').abort()", b"(" * 5000, text[:-1], text * 3, b"\xff" * 9])
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    version = bytes([rng.choice([1, 1, 1, 2, 3, 9]), 0])
    return b"\x93NUMPY" + version + (len(text) % 65_536).to_bytes(2, "little") + text + np.array(array).tobytes()


class Specimen:
    """The parts of an artifact, which can be reassembled with invalid content but valid checksums."""

    def __init__(self, data):
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            self.arrays = {name: file[name] for name in file.files}
        self.header = json.loads(self.arrays.pop("header").tobytes().decode("utf-8", "surrogatepass"))

    def mutant(self, rng):
        """Return the bytes of an artifact with a valid container but changed content, and what was changed."""
        header, arrays, changed = self.header, dict(self.arrays), []
        forged = {}
        for _ in range(rng.choice([1, 1, 2, 3])):
            kind = rng.randrange(12)
            name = rng.choice(sorted(arrays)) if arrays else None
            if kind < 6 and name:
                arrays[name] = mutate_array(rng, arrays[name])
                changed.append(name)
            elif kind == 6 and name:
                del arrays[name]
                changed.append("-" + name)
            elif kind == 7 and name:
                forged[name] = forged_npy(rng, arrays[name])
                changed.append("forged " + name)
            else:
                header, paths = mutate_json(rng, header)
                changed.append(paths)
        if isinstance(header, dict) and rng.random() < 0.95 and isinstance(header.get("arrays"), list):
            header = {**header, "arrays": sorted(arrays)}
        text = json.dumps(header).encode()
        entries = {"header": npy(np.frombuffer(text, np.uint8))}
        entries |= {name: forged.get(name) or npy(array) for name, array in arrays.items()}
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as container:
            for name, data in entries.items():
                container.writestr(zipfile.ZipInfo(f"{name}.npy"), data)  # the entry gets a fixed date (1980)
        return file.getvalue(), changed


def numbered(seed, number):
    """Return the random generator for mutation ``number``."""
    return random.Random(f"{seed}/{number}")
