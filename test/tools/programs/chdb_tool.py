import base64
import json

import chdb
from common import serve

KINDS = {"Bool": "bool", "Int64": "int", "Float64": "float", "Decimal": "decimal", "String": "str", "UUID": "uuid"}
KINDS |= {"Date": "date", "Date32": "date", "Time": "time", "Time64": "time"}


def kind_of(type):
    name = type.removeprefix("Nullable(").split("(")[0].rstrip(")")
    if name in ("DateTime", "DateTime64"):
        return "datetimetz" if "'" in type else "datetime"
    return KINDS.get(name, "object")


def shown(type, text):
    return kind_of(type), f"{text}Z" if "'UTC'" in type else text


def reader(format):
    def read(path):
        query = f"SELECT toTypeName(value) AS t, base64Encode(toString(value)) AS b FROM file('{path}', '{format}') ORDER BY n"
        lines = str(chdb.query(query, "JSONEachRow")).splitlines()
        rows = [json.loads(line) for line in lines]
        values = [None if row["b"] is None else base64.b64decode(row["b"]) for row in rows]
        try:
            texts = [None if value is None else value.decode() for value in values]
        except UnicodeDecodeError:
            return values
        return [None if text is None else shown(row["t"], text) for row, text in zip(rows, texts)]

    return read


FORMATS = {
    "csv": "CSVWithNames",
    "tsv": "TSVWithNames",
    "json": "JSONEachRow",
    "ndjson": "JSONEachRow",
    "parquet": "Parquet",
    "arrow": "ArrowStream",
    "arrow-file": "Arrow",
}
serve({name: reader(format) for name, format in FORMATS.items()}, {})
