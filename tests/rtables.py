"""A table of R as saveRDS writes it, without R (R Internals 1.8)."""

import gzip
import struct

STRING, INTEGERS, TEXTS, LIST, PAIRS, SYMBOL, END = 9, 13, 16, 19, 2, 1, 254
ATTRIBUTES, TAG, UTF8 = 1 << 9, 1 << 10, 8 << 12


def _number(*values):
    return struct.pack(f">{len(values)}i", *values)


def _text(text):
    content = text.encode()
    return _number(STRING | UTF8, len(content)) + content


def _texts(texts, attributes=b""):
    return _number(TEXTS, len(texts)) + b"".join(map(_text, texts)) + attributes


def _pairs(**pairs):
    found = b""
    for name, value in pairs.items():
        found += _number(PAIRS | TAG, SYMBOL) + _text(name) + value
    return found + _number(END)


def write_table(path, counts, **axes):
    """Counts with the first axis fastest, and the categories of each axis by its name."""
    sizes = [len(categories) for categories in axes.values()]
    labels = _number(LIST | ATTRIBUTES, len(axes)) + b"".join(map(_texts, axes.values()))
    labels += _pairs(names=_texts(list(axes)))
    said = _pairs(
        dim=_number(INTEGERS, len(sizes), *sizes), dimnames=labels, **{"class": _texts(["table"])}
    )
    head = b"X\n" + _number(2, 0x40300, 0x20300)
    body = _number(INTEGERS | ATTRIBUTES | 1 << 8, len(counts), *counts)
    path.write_bytes(gzip.compress(head + body + said))
