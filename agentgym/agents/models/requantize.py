"""Rewrite a GGUF file's 4-bit weights as 8-bit ones, once, for speed.

llama.cpp has quick matrix kernels for some formats and not for others: on AVX2 a Q4_1 file reads
prompts at little more than half the speed of the same weights as Q8_0, and an agent mostly reads
prompts. Eight bits hold what four bits said, so the model stays the same up to rounding; the file
grows by half. The `gguf` package does the arithmetic; without it the file is used as it is.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from agentgym.core.extras import installed

SLOW = ("Q4_1", "Q5_0", "Q5_1")
"""Formats that llama.cpp has no quick kernels for on a common CPU."""


def quick(path: Path) -> Path:
    """Return the quick form of a GGUF file: made beside it if need be, or the file itself.

    >>> quick(Path("model.Q8_0.gguf")).name
    'model.Q8_0.gguf'
    """
    slow = next((name for name in SLOW if f".{name}." in path.name), None)
    if slow is None:
        return path
    target = path.with_name(path.name.replace(f".{slow}.", ".Q8_0."))
    if target.exists():
        return target
    if not installed("gguf") or not os.access(path.parent, os.W_OK):
        return path
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".requantize-") as scratch:
        part = Path(scratch) / target.name
        requantize(path, part)
        os.replace(part, target)
    return target


def requantize(source: Path, target: Path) -> None:
    """Write a GGUF file with every tensor of a slow format as Q8_0; all else is copied.

    Args:
        source: the file to read.
        target: the file to write.
    """
    import gguf

    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    for field in reader.fields.values():
        # The writer itself writes the header's fields and the architecture.
        if not field.name.startswith("GGUF.") and field.name != "general.architecture":
            _copy_field(writer, field)
    wanted = gguf.GGMLQuantizationType.Q8_0
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    for tensor in reader.tensors:
        data, kind = tensor.data, tensor.tensor_type
        if kind.name in SLOW:
            data = gguf.quants.quantize(gguf.quants.dequantize(data, kind), wanted)
            kind = wanted
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _copy_field(writer: Any, field: Any) -> None:
    import gguf

    if field.name == gguf.Keys.General.FILE_TYPE:
        return
    kind = field.types[0]
    inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
    writer.add_key_value(field.name, field.contents(), kind, sub_type=inner)
