"""The rest of written.py: formats that few programs write, and files of others that a folder has."""

import datetime
import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from writing import FILES, TEXTS, add, folder, needs, table, written

# Texts that no reader takes for something else.
WORDS = [text for text in TEXTS if re.match(r"[a-zé日Ж<]", text)]


@needs("DuckDB, its own files", "duckdb")
def duckdb_database(program, seed):
    import duckdb

    kinds = {"integer": "INTEGER", "long": "BIGINT", "double": "DOUBLE", "text": "VARCHAR", "day": "DATE", "micros": "TIMESTAMP", "boolean": "BOOLEAN", "decimal": "DECIMAL(18,4)", "bytes": "BLOB"}
    names, chosen, rows = table(seed, list(kinds))
    path = folder / f"duckdb-{seed}.duckdb"
    file = duckdb.connect()
    file.execute(f"ATTACH '{path}' AS made (STORAGE_VERSION '{['v1.0.0', 'v1.2.0', 'v1.4.0'][seed % 3]}')")
    file.execute("CREATE TABLE made.t (" + ", ".join(f'"{name}" {kinds[kind]}' for name, kind in zip(names, chosen)) + ")")
    file.executemany(f"INSERT INTO made.t VALUES ({', '.join('?' * len(names))})", rows)
    if seed % 2:
        file.execute("CREATE TABLE made.other (x INTEGER)")
    file.execute("DETACH made")
    add(program, path, names, duckdb.connect(str(path), read_only=True).execute("FROM t").fetchall(), query="table=t" if seed % 2 else "")


@needs("pandas, HTML", "pandas", "lxml")
def pandas_html(program, seed):
    import pandas

    names, kinds, rows = table(seed, ["integer", "short", "text", "day"], texts=WORDS)
    frame = pandas.DataFrame({name: pandas.Series(["" if row[at] is None else row[at] for row in rows], dtype=object) for at, name in enumerate(names)})
    path = folder / f"pandas-{seed}.{'html' if seed % 2 else 'xls'}"
    more = {"border": 0, "index_names": False} if seed % 3 else {"classes": "wide", "justify": "left"}
    text = frame.to_html(index=False, **more)
    page = f"<!DOCTYPE html><html><head><meta charset=cp1252><title>x</title></head><body><h1>é</h1>{text}</body></html>"
    path.write_bytes(page.encode("cp1252", "xmlcharrefreplace") if seed % 2 else text.encode())
    (read,) = pandas.read_html(path, flavor="lxml", encoding="cp1252" if seed % 2 else "utf-8", keep_default_na=False, na_values=[""])
    days = [name for name, kind in zip(names, kinds) if kind == "day"]
    found = read.astype(object).where(read.notna(), None)
    for name in days:
        found[name] = [value and datetime.date.fromisoformat(value) for value in found[name]]
    add(program, path, names, found.values.tolist())


@needs("pyjstat", "pyjstat", "pandas")
def pyjstat_json_stat(program, seed):
    import pandas
    from pyjstat import pyjstat

    _, _, rows = table(seed, ["double"])
    sizes = [1 + seed % 3, 2 + seed % 4, 3]
    labels = [[f"{text} {at}" for at, text in zip(range(size), WORDS * 2)] for size in sizes]
    cells = [(a, b, c) for a in labels[0] for b in labels[1] for c in labels[2]]
    names = ["Région", "time", "Größe (cm)"]
    frame = pandas.DataFrame(cells, columns=names)
    frame["value"] = [rows[at % len(rows)][0] for at in range(len(cells))]
    path = folder / f"pyjstat-{seed}.json"
    path.write_text(pyjstat.Dataset.read(frame).write())
    read = pyjstat.Dataset.read(path.read_text()).write("dataframe")
    found = [[*row, None] for row in read.astype(object).values.tolist()]
    add(program, path, [*read.columns, "status"], found, query="labels=true")


SHEETJS = """
const { readFile, writeFile } = require('@e965/xlsx')
const [, ...files] = process.argv
for (const file of files) {
  const book = readFile(file, { cellNF: true })
  writeFile(book, file.replace('.xlsx', '.xlsb'), { bookSST: true })
  writeFile(book, file.replace('.xlsx', '.xml.xls'), { bookType: 'xlml' })
}
"""


def sheetjs(sources):
    """What SheetJS makes of the workbooks, as openpyxl has read them: other readers of xlsb drop cells (findings/calamine-drops-short-cells-of-xlsb.sh)."""
    files = [str(folder / one["file"]) for one in sources]
    subprocess.run(["node", "-e", SHEETJS, *files], check=True, cwd=Path(__file__).parent)
    for ending, name in {".xlsb": "xlsb", ".xml.xls": "XML of Excel 2003"}.items():
        for one in sources:
            written.append({**one, "program": f"SheetJS, {name}", "file": Path(one["file"]).with_suffix(ending).name})


HAVEN = """
files <- commandArgs(trailingOnly = TRUE)
for (file in files) {
  rows <- read.csv(file, na.strings = "", colClasses = c("numeric", "character", "Date", "character", "integer"), fileEncoding = "UTF-8")
  rows$m <- as.POSIXct(rows$m, format = "%Y-%m-%dT%H:%M:%S", tz = "UTC")
  rows$i <- haven::labelled(rows$i, c(no = 0L, yes = 1L), label = "Ist es so?")
  haven::write_sav(rows, sub("csv$", "sav", file), compress = if (nchar(file) %% 2) "byte" else "zsav")
}
"""


def haven_sav():
    import csv

    import pyreadstat

    files = []
    for seed in range(FILES):
        _, _, rows = table(seed, ["double", "text", "day", "moment", "integer"], texts=WORDS)
        files.append(folder / f"haven-{'x' * (seed % 2)}{seed}.csv")
        with files[-1].open("w", newline="") as out:
            text = lambda value: value.isoformat() if isinstance(value, datetime.date) else value
            csv.writer(out).writerows([["d", "t", "day", "m", "i"], *[[text(value) for value in row[:5]] for row in rows]])
    subprocess.run(["Rscript", "-e", HAVEN, *map(str, files)], check=True)
    for file in files:
        path = file.with_suffix(".sav")
        read, _ = pyreadstat.read_sav(str(path))
        add("haven, as pyreadstat reads it", path, list(read.columns), read.astype(object).values.tolist())


def px(files):
    """Files of statistical offices, as pyaxis reads them."""
    from pyaxis import pyaxis

    for file in files:
        path = folder / f"{len(written)}-{file.name}"
        shutil.copy(file, path)
        charset = re.search(rb'CODEPAGE="([^"]+)"', path.read_bytes())
        try:
            encoding = charset[1].decode() if charset else "cp1252"
            read = pyaxis.parse(str(path), encoding=encoding, null_values="(?!)", sd_values="(?!)")["DATA"]
        except Exception as error:
            print(f"pyaxis, {file.name}: {error!r}")
            continue
        split = lambda text: [float(text), None] if re.fullmatch(r"-?\d*\.?\d+", text) else [None, text.strip('"')]
        found = [[*map(str, row[:-1]), *split(str(row[-1]))] for row in read.astype(object).values.tolist()]
        add("pyaxis", path, [*read.columns[:-1], "value", "status"], found, query="labels=true")


def has(program, *modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{program}: NOT RUN, there is no {', '.join(missing)}")
    return not missing


workbooks = [one for one in written if one["program"] == "XlsxWriter"]
if workbooks:
    sheetjs(workbooks)
if has("haven", "pyreadstat"):
    packages = "quit(status = !requireNamespace('haven', quietly = TRUE))"
    if shutil.which("Rscript") and subprocess.run(["Rscript", "-e", packages]).returncode == 0:
        haven_sav()
    else:
        print("haven: NOT RUN, there is no R or no haven")
if has("PX", "pyaxis"):
    found = sorted(one for one in Path(os.environ.get("PARQUETRY_PX", "/nowhere")).glob("**/*") if one.suffix.lower() == ".px" and "error" not in str(one))
    print(f"PX: {len(found)} files in PARQUETRY_PX")
    px(found)
