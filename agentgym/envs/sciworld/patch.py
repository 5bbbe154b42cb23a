"""One method added to the simulator, so that equal episodes are equal.

Every object of ScienceWorld keeps what it contains in hash sets, and its class defines `equals` by
the object's number but no `hashCode`. The JVM then hashes by identity, which differs from run to
run: the package itself lists the choices of an ambiguous request, ticks the objects of a room and
even measures a temperature differently the second time. The class that every object extends is
therefore read from the package's jar and given `hashCode() = (int) uuid`, which is what its
`equals` asks for. The result lies first on the class path; the jar itself is not touched.
"""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

CLASS = "scienceworld/struct/EnvObject.class"

_UTF8, _LONG, _DOUBLE = 1, 5, 6
# Bytes a constant-pool entry takes after its tag (JVM specification, section 4.4).
_ENTRY_SIZE = {
    3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4,
    15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}  # fmt: skip


def write_patched_class(jar: Path, folder: Path) -> None:
    """Write the patched class below `folder`, which then goes first on the class path."""
    with zipfile.ZipFile(jar) as archive:
        original = archive.read(CLASS)
    target = folder / CLASS
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(add_hash_code(original))


def add_hash_code(data: bytes) -> bytes:
    """Return a class file with `public int hashCode() { return (int) uuid; }` added to it.

    Args:
        data: a class file whose class has a field `long uuid`.

    Raises:
        ValueError: if it is not a class file.
    """
    magic, version, count = struct.unpack_from(">IIH", data)
    if magic != 0xCAFEBABE:
        raise ValueError("this is not a Java class file")
    pool_end, words = _walk_pool(data, count)
    if b"hashCode" in words:
        return data  # a later version of the package may define it
    (this,) = struct.unpack_from(">H", data, pool_end + 2)
    (interfaces,) = struct.unpack_from(">H", data, pool_end + 6)
    methods = _skip_members(data, pool_end + 8 + 2 * interfaces)
    methods_end = _skip_members(data, methods)
    (method_count,) = struct.unpack_from(">H", data, methods)

    pool = b"".join(_utf8(w) for w in (b"hashCode", b"()I", b"Code", b"uuid", b"J"))
    pool += struct.pack(">BHH", 12, count + 3, count + 4)  # NameAndType uuid:J
    pool += struct.pack(">BHH", 9, this, count + 5)  # Fieldref to it
    # aload_0, getfield uuid, l2i, ireturn
    code = b"\x2a\xb4" + struct.pack(">H", count + 6) + b"\x88\xac"
    body = struct.pack(">HHI", 2, 1, len(code)) + code + struct.pack(">HH", 0, 0)
    method = struct.pack(">HHHHHI", 1, count, count + 1, 1, count + 2, len(body)) + body
    return b"".join(
        (
            struct.pack(">IIH", magic, version, count + 7),
            data[10:pool_end],
            pool,
            data[pool_end:methods],
            struct.pack(">H", method_count + 1),
            data[methods + 2 : methods_end],
            method,
            data[methods_end:],
        )
    )


def _utf8(word: bytes) -> bytes:
    return struct.pack(">BH", _UTF8, len(word)) + word


def _walk_pool(data: bytes, count: int) -> tuple[int, list[bytes]]:
    """Return where the constant pool ends and the words in it."""
    place, index, words = 10, 1, []
    while index < count:
        tag = data[place]
        if tag == _UTF8:
            (size,) = struct.unpack_from(">H", data, place + 1)
            words.append(data[place + 3 : place + 3 + size])
            place += 3 + size
        else:
            place += 1 + _ENTRY_SIZE[tag]
        index += 2 if tag in (_LONG, _DOUBLE) else 1
    return place, words


def _skip_members(data: bytes, place: int) -> int:
    """Return where a table of fields or methods ends."""
    (members,) = struct.unpack_from(">H", data, place)
    place += 2
    for _ in range(members):
        (attributes,) = struct.unpack_from(">H", data, place + 6)
        place += 8
        for _ in range(attributes):
            (size,) = struct.unpack_from(">I", data, place + 2)
            place += 6 + size
    return place
