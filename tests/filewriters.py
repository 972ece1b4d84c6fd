"""Files of records as other programs write them; SPSS and SAS files byte by byte."""

import struct

import xlsxwriter
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

NOTHING = -1.7976931348623157e308  # SPSS's system missing


def rows_of(frame):
    """The header and the values, None where they are missing."""
    known = frame.astype(object).where(frame.notna(), None)
    return [list(frame.columns), *known.to_numpy().tolist()]


def xlsx(frame, path):
    with xlsxwriter.Workbook(path, {"strings_to_formulas": False}) as book:
        sheet = book.add_worksheet("People")
        for place, row in enumerate(rows_of(frame)):
            sheet.write_row(place, 0, row)


def xls(frame, path):
    book = xlwt.Workbook()
    sheet = book.add_sheet("People")
    for place, row in enumerate(rows_of(frame)):
        for column, value in enumerate(row):
            if value is not None:
                sheet.write(place, column, value)
    book.save(str(path))


def ods(frame, path, name="People"):
    book = OpenDocumentSpreadsheet()
    sheet = Table(name=name)
    for row in rows_of(frame):
        line = TableRow()
        for value in row:
            line.addElement(ods_cell(value))
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    book.save(str(path))


def ods_cell(value, **more):
    if value is None:
        return TableCell(**more)
    if isinstance(value, (int, float)):
        cell = TableCell(valuetype="float", value=value, **more)
    else:
        cell = TableCell(valuetype="string", **more)
    cell.addElement(P(text=str(value)))
    return cell


def sav(variables, rows, *, weight=None, order="<", encoding="UTF-8"):
    """An SPSS system file: variables are dictionaries of name, and if need be width, label,
    missing (values, or a range), labels, format (20 is a date) and long, a long name."""

    def ints(*values):
        return struct.pack(f"{order}{len(values)}i", *values)

    def value(given, width=0):
        if width:
            return str(given or "").encode(encoding).ljust(8)
        return struct.pack(f"{order}d", NOTHING if given is None else given)

    names = [each["name"] for each in variables]
    place = names.index(weight) + 1 if weight else 0
    out = b"$FL2" + b"@(#) SPSS DATA FILE by hand".ljust(60)
    out += ints(2, len(variables), 0, place, len(rows)) + struct.pack(f"{order}d", 100.0)
    out += b"01 Jan 2600:00:00" + b" " * 64 + b"\0" * 3
    for each in variables:
        width, label = each.get("width", 0), each.get("label", "").encode(encoding)
        missing = each.get("missing", ())
        number = -2 if isinstance(missing, range) else len(missing)
        kept = (missing.start, missing.stop) if isinstance(missing, range) else missing
        kind = each.get("format", 1 if width else 5) << 16 | (width or 11) << 8
        out += ints(2, width, bool(label), number, kind, kind)
        out += each["name"].upper().encode(encoding).ljust(8)
        if label:
            out += ints(len(label)) + label + b" " * (-len(label) % 4)
        out += b"".join(value(one, width) for one in kept)
    for place, each in enumerate(variables, 1):
        if labels := each.get("labels"):
            out += ints(3, len(labels))
            for code, text in labels.items():
                text = text.encode(encoding)
                padded = bytes([len(text)]) + text
                out += value(code, each.get("width", 0)) + padded.ljust(-(-len(padded) // 8) * 8)
            out += ints(4, 1, place)
    long = "\t".join(f"{v['name'].upper()}={v.get('long', v['name'])}" for v in variables)
    for kind, content in ((13, long.encode(encoding)), (20, encoding.encode())):
        out += ints(7, kind, 1, len(content)) + content
    out += ints(999, 0)
    widths = [each.get("width", 0) for each in variables]
    return out + b"".join(
        value(one, width) for row in rows for one, width in zip(row, widths, strict=True)
    )


def xpt(variables, rows, *, members=1):
    """A SAS transport file of version 5: names with the width of texts, or None for numbers.

    A letter among numbers is a special missing value.
    """

    def card(text):
        return text.encode().ljust(80)

    def header(kind, tail):
        return card(f"HEADER RECORD*******{kind:8}HEADER RECORD!!!!!!!{tail}  ")

    none, when = "0" * 30, "01JAN26:00:00:00"
    out = header("LIBRARY", none) + card(f"{'SAS':8}{'SAS':8}{'SASLIB':8}{'9.4':8}{'X64':32}{when}")
    out += card(when)
    for number in range(members):
        out += header("MEMBER", "000000000000000001600000000140") + header("DSCRPTR", none)
        out += card(f"{'SAS':8}{f'PEOPLE{number}':8}{'SASDATA':8}{'9.4':8}{'X64':32}{when}")
        out += card(when)
        out += header("NAMESTR", f"000000{len(variables):04}" + "0" * 20)
        described, at = b"", 0
        for place, (name, width) in enumerate(variables, 1):
            size = width or 8
            described += struct.pack(">4h", 2 if width else 1, 0, size, place)
            described += name.encode().ljust(8) + b" " * 40 + b" " * 8
            described += struct.pack(">3h", 0, 0, 0) + b"\0\0" + b" " * 8
            described += struct.pack(">2hl", 0, 0, at) + b"\0" * 52
            at += size
        out += described.ljust(-(-len(described) // 80) * 80) + header("OBS", none)
        data = b"".join(
            str(one).encode().ljust(width) if width else ibm(one)
            for row in rows
            for one, (_, width) in zip(row, variables, strict=True)
        )
        out += data.ljust(-(-len(data) // 80) * 80)
    return out


def ibm(number):
    """A number as IBM mainframes hold it: base 16, excess 64; or the letter of a missing one."""
    if number is None or isinstance(number, str):
        return (number or ".").encode() + b"\0" * 7
    if number == 0:
        return b"\0" * 8
    exponent, rest = 64, abs(float(number))
    while rest >= 1:
        rest, exponent = rest / 16, exponent + 1
    while rest < 1 / 16:
        rest, exponent = rest * 16, exponent - 1
    sign = 0x80 if number < 0 else 0
    return bytes([sign | exponent]) + int(rest * 2**56).to_bytes(7, "big")
