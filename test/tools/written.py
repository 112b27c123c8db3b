"""
Writes ten files of each format into a folder, each by a program of many people, and beside them what the program's own
reader finds in them: python written.py FOLDER. The programs that are not here are left out and named.
"""

import datetime
import importlib.util
import json
import shutil
import sqlite3
import subprocess
import zipfile
from pathlib import Path

from writing import TEXTS, add, folder, needs, table, written

CELLS = ["integer", "double", "text", "day", "moment", "boolean"]


def read_xlsx(path, sheet=None):
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True)
    names, *rows = (book[sheet] if sheet else book.worksheets[0]).iter_rows(values_only=True)
    return names, rows


@needs("openpyxl", "openpyxl")
def openpyxl_xlsx(program, seed):
    import openpyxl

    names, _, rows = table(seed, CELLS)
    book = openpyxl.Workbook(write_only=seed % 2 == 0)
    for title in ["prices", "other"] if seed % 3 == 0 else ["prices"]:
        sheet = book.create_sheet(title)
        for row in [names, *(rows if title == "prices" else [])]:
            sheet.append(row)
    if seed % 2:
        book.remove(book.worksheets[0])
    path = folder / f"openpyxl-{seed}.xlsx"
    book.save(path)
    add(program, path, *read_xlsx(path), query="sheet=prices" if seed % 3 == 0 else "")


@needs("XlsxWriter", "xlsxwriter", "openpyxl")
def xlsxwriter_xlsx(program, seed):
    import xlsxwriter

    # LibreOffice keeps 15 digits of these.
    names, kinds, rows = table(seed, [*CELLS[2:], "integer", "short"])
    path = folder / f"xlsxwriter-{seed}.xlsx"
    options = {"constant_memory": seed % 2 == 0, "strings_to_numbers": False, "use_zip64": seed % 3 == 0}
    with xlsxwriter.Workbook(path, {**options, "default_date_format": "dd/mm/yy hh:mm" if seed % 2 else "yyyy-mm-dd"}) as book:
        sheet = book.add_worksheet()
        bold = book.add_format({"bold": True})
        sheet.write_row(0, 0, names, bold)
        for at, row in enumerate(rows):
            for column, value in enumerate(row):
                if value is None:
                    sheet.write_blank(at + 1, column, None, bold)
                elif isinstance(value, str):
                    sheet.write_string(at + 1, column, value)
                elif kinds[column] == "short" and seed % 4 == 3:
                    sheet.write_formula(at + 1, column, "=1", None, value)
                else:
                    sheet.write(at + 1, column, value)
        sheet.autofilter(0, 0, len(rows), len(names) - 1)
        sheet.freeze_panes(1, 0)
    add(program, path, *read_xlsx(path))


@needs("xlwt", "xlwt", "xlrd")
def xlwt_xls(program, seed):
    import xlrd
    import xlwt

    names, kinds, rows = table(seed, CELLS)
    book = xlwt.Workbook(encoding="utf-8")
    sheet = book.add_sheet("s")
    styles = {"day": xlwt.easyxf(num_format_str="D.M.YYYY"), "moment": xlwt.easyxf(num_format_str="YYYY-MM-DD HH:MM:SS")}
    for column, name in enumerate(names):
        sheet.write(0, column, name)
        for at, row in enumerate(rows):
            if row[column] is not None:
                sheet.write(at + 1, column, row[column], styles.get(kinds[column], xlwt.Style.default_style))
    path = folder / f"xlwt-{seed}.xls"
    book.save(str(path))
    read = xlrd.open_workbook(path).sheet_by_index(0)

    def value(found):
        if found.ctype in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
            return None
        if found.ctype == xlrd.XL_CELL_BOOLEAN:
            return bool(found.value)
        return xlrd.xldate_as_datetime(found.value, 0) if found.ctype == xlrd.XL_CELL_DATE else found.value

    add(program, path, names, [[value(one) for one in read.row(at)] for at in range(1, read.nrows)])


@needs("odfpy", "odf", "pandas")
def odfpy_ods(program, seed):
    import pandas

    names, _, rows = table(seed, CELLS)
    path = folder / f"odfpy-{seed}.ods"
    frame = pandas.DataFrame({name: pandas.Series([row[at] for row in rows], dtype=object) for at, name in enumerate(names)})
    frame.to_excel(path, engine="odf", index=False)
    # pandas writes a null as an empty text.
    read = pandas.read_excel(path, engine="odf", dtype=object, keep_default_na=False)
    add(program, path, names, read.values.tolist())


@needs("pyreadstat", "pyreadstat", "pandas")
def pyreadstat_sav(program, seed):
    import pandas
    import pyreadstat

    names, _, rows = table(seed, ["double", "text", "day", "moment", "integer"], names=[f"v{at}_x" for at in range(9)])
    frame = pandas.DataFrame({name: pandas.Series([row[at] for row in rows], dtype=object) for at, name in enumerate(names)})
    path = folder / f"pyreadstat-{seed}.{'zsav' if seed % 2 else 'sav'}"
    numbers = [name for name, value in zip(names, rows[0]) if isinstance(value, int)]
    ranges = {name: [{"lo": -1, "hi": 1}] for name in numbers} if seed % 3 == 0 else {}
    labels = {name: f"Frage {name} ä" for name in names} if seed % 2 else {}
    pyreadstat.write_sav(frame, str(path), compress=seed % 2 == 1, missing_ranges=ranges, column_labels=labels)
    read, _ = pyreadstat.read_sav(str(path))
    add(program, path, names, read.astype(object).values.tolist())


@needs("fastavro", "fastavro")
def fastavro_avro(program, seed):
    import fastavro

    types = {
        "integer": "int",
        "long": "long",
        "double": "double",
        "text": "string",
        "boolean": "boolean",
        "bytes": "bytes",
        "day": {"type": "int", "logicalType": "date"},
        "micros": {"type": "long", "logicalType": "local-timestamp-micros"},
        "decimal": {"type": "bytes", "logicalType": "decimal", "precision": 18, "scale": 4},
    }
    names, kinds, rows = table(seed, list(types), names=[f"v{at}" for at in range(13)])
    fields = [{"name": name, "type": ["null", types[kind]]} for name, kind in zip(names, kinds)]
    schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": fields})
    codecs = ["null", "deflate"] + (["snappy"] if importlib.util.find_spec("cramjam") else [])
    path = folder / f"fastavro-{seed}.avro"
    with path.open("wb") as out:
        fastavro.writer(out, schema, [dict(zip(names, row)) for row in rows], codec=codecs[seed % len(codecs)], sync_interval=999)
    with path.open("rb") as file:
        add(program, path, names, [[row[name] for name in names] for row in fastavro.reader(file)])


@needs("SQLite")
def sqlite(program, seed):
    types = {"long": "INTEGER", "double": "REAL", "text": "TEXT", "day": "DATE", "moment": "DATETIME"}
    names, kinds, rows = table(seed, list(types))
    path = folder / f"sqlite-{seed}.{'db' if seed % 2 else 'sqlite'}"
    file = sqlite3.connect(path)
    quoted = ", ".join(f'"{name}" {types[kind]}' for name, kind in zip(names, kinds))
    without = " WITHOUT ROWID" if seed % 3 == 2 else ""
    file.execute(f'CREATE TABLE t (key_ INTEGER PRIMARY KEY, {quoted}){without}')
    if seed % 2:
        file.execute("CREATE TABLE other (x)")
    for at, row in enumerate(rows):
        values = [value.isoformat(" ") if isinstance(value, datetime.datetime) else str(value) if isinstance(value, datetime.date) else value for value in row]
        file.execute(f"INSERT INTO t VALUES ({', '.join('?' * (len(row) + 1))})", [at, *values])
    file.commit()
    parse = {"day": datetime.date.fromisoformat, "moment": datetime.datetime.fromisoformat}
    read = file.execute("SELECT * FROM t ORDER BY key_").fetchall()
    found = [[value if value is None else parse.get(kind, lambda same: same)(value) for kind, value in zip(["long", *kinds], row)] for row in read]
    file.close()
    add(program, path, ["key_", *names], found, query="table=t" if seed % 2 else "")


def arrow_table(seed):
    import pyarrow

    kinds = ["integer", "long", "double", "text", "day", "micros", "boolean", "decimal", "bytes"]
    names, kinds, rows = table(seed, kinds)
    types = {
        "integer": [pyarrow.int32(), pyarrow.int64()][seed % 2],
        "long": pyarrow.int64(),
        "double": pyarrow.float64(),
        "text": [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())][seed % 3],
        "day": pyarrow.date32(),
        "micros": pyarrow.timestamp("us"),
        "boolean": pyarrow.bool_(),
        "decimal": pyarrow.decimal128(18, 4),
        "bytes": pyarrow.binary(),
    }
    columns = [pyarrow.array([row[at] for row in rows], types[kind]) for at, kind in enumerate(kinds)]
    return pyarrow.table(columns, names=names)


@needs("pyarrow, Parquet", "pyarrow")
def pyarrow_parquet(program, seed):
    import pyarrow.parquet

    path = folder / f"pyarrow-{seed}.parquet"
    pyarrow.parquet.write_table(
        arrow_table(seed), path, compression=["snappy", "zstd", "gzip", "none", "brotli"][seed % 5],
        version=["1.0", "2.4", "2.6"][seed % 3], data_page_version=["1.0", "2.0"][seed % 2], row_group_size=40, use_dictionary=seed % 4 > 0,
    )
    read = pyarrow.parquet.read_table(path)
    add(program, path, read.column_names, [list(row.values()) for row in read.to_pylist()])


@needs("pyarrow, Arrow", "pyarrow")
def pyarrow_arrow(program, seed):
    import pyarrow

    path = folder / f"pyarrow-{seed}.arrow"
    options = pyarrow.ipc.IpcWriteOptions(compression=[None, "lz4", "zstd"][seed % 3])
    data = arrow_table(seed)
    with (pyarrow.ipc.new_file if seed % 2 else pyarrow.ipc.new_stream)(str(path), data.schema, options=options) as out:
        out.write_table(data, max_chunksize=40)
    with pyarrow.memory_map(str(path)) as file:
        read = (pyarrow.ipc.open_file if seed % 2 else pyarrow.ipc.open_stream)(file).read_all()
        add(program, path, read.column_names, [list(row.values()) for row in read.to_pylist()])


@needs("DuckDB", "duckdb")
def duckdb_parquet(program, seed):
    import duckdb

    kinds = {"integer": "INTEGER", "long": "BIGINT", "double": "DOUBLE", "text": "VARCHAR", "day": "DATE", "micros": "TIMESTAMP", "boolean": "BOOLEAN", "decimal": "DECIMAL(18,4)"}
    names, chosen, rows = table(seed, list(kinds))
    path = folder / f"duckdb-{seed}.parquet"
    file = duckdb.connect()
    file.execute("CREATE TABLE t (" + ", ".join(f'"{name}" {kinds[kind]}' for name, kind in zip(names, chosen)) + ")")
    file.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
    codec = ["snappy", "zstd", "gzip", "uncompressed", "lz4_raw"][seed % 5]
    file.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION '{codec}', PARQUET_VERSION '{'v2' if seed % 2 else 'v1'}')")
    add(program, path, names, file.execute(f"FROM read_parquet('{path}')").fetchall())


@needs("zipfile")
def zipped(program, seed):
    names, _, rows = table(seed, ["integer", "double", "text"], texts=[text for text in TEXTS if "\n" not in text])
    lines = [json.dumps(dict(zip(names, row)), ensure_ascii=seed % 2 == 0) for row in rows]
    path = folder / f"zipfile-{seed}.zip"
    with zipfile.ZipFile(path, "w", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED][seed % 2]) as archive:
        archive.writestr("README.md", "# about")
        archive.writestr("data/rows.ndjson", "\n".join(lines))
    with zipfile.ZipFile(path) as archive:
        found = [json.loads(line) for line in archive.read("data/rows.ndjson").decode().split("\n")]
    add(program, path, names, [list(row.values()) for row in found])


def in_ods(one):
    """LibreOffice writes a boolean of a workbook as the formula of a number."""
    return ["number", str(int(one[1] == "true"))] if one and one[0] == "boolean" else one


# What LibreOffice makes of the workbooks, as openpyxl has read them.
sources = [one for one in written if one["program"] == "XlsxWriter"]
if not shutil.which("soffice") or not sources:
    print("LibreOffice: NOT RUN, there is no soffice or no XlsxWriter")
else:
    for ending in ["ods", "xls"]:
        made = folder / ending
        files = [str(folder / one["file"]) for one in sources]
        home = f"-env:UserInstallation=file://{folder}/home"
        convert = ["soffice", home, "--headless", "--convert-to", ending, "--outdir", str(made)]
        subprocess.run([*convert, *files], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for one in sources:
            name = Path(one["file"]).with_suffix(f".{ending}").name
            (made / name).rename(folder / f"libreoffice-{name}")
            rows = [[in_ods(value) for value in row] for row in one["rows"]] if ending == "ods" else one["rows"]
            written.append({**one, "program": f"LibreOffice, {ending}", "file": f"libreoffice-{name}", "rows": rows})

import written_others  # noqa: E402, F401

(folder / "written.json").write_text(json.dumps(written, ensure_ascii=False))
