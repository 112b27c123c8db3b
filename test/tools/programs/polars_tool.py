import polars as pl
from common import serve

KINDS = {
    "boolean": pl.Boolean(),
    "integer": pl.Int64(),
    "double": pl.Float64(),
    "decimal(18,4)": pl.Decimal(18, 4),
    "decimal(38,10)": pl.Decimal(38, 10),
    "string": pl.String(),
    "date": pl.Date(),
    "time": pl.Time(),
    "timestamp": pl.Datetime("us"),
    "timestamptz": pl.Datetime("us", "UTC"),
    "binary": pl.Binary(),
}


def column(data):
    return data["value"].to_list()


def frame(numbers, values, kind):
    # Polars has neither: a uuid is its text, JSON what it is made of.
    if kind == "uuid":
        values = [value and str(value) for value in values]
    return pl.DataFrame({"n": numbers, "value": pl.Series(values, dtype=KINDS.get(kind, pl.String() if kind == "uuid" else None))})


serve(
    {
        "csv": lambda path: column(pl.read_csv(path, try_parse_dates=True)),
        "tsv": lambda path: column(pl.read_csv(path, separator="\t", try_parse_dates=True)),
        "json": lambda path: column(pl.read_json(path)),
        "ndjson": lambda path: column(pl.read_ndjson(path)),
        "xlsx": lambda path: column(pl.read_excel(path)),
        "parquet": lambda path: column(pl.read_parquet(path)),
        "arrow": lambda path: column(pl.read_ipc_stream(path)),
        "arrow-file": lambda path: column(pl.read_ipc(path)),
    },
    {
        "csv": lambda path, *table: frame(*table).write_csv(path),
        "tsv": lambda path, *table: frame(*table).write_csv(path, separator="\t"),
        "json": lambda path, *table: frame(*table).write_json(path),
        "ndjson": lambda path, *table: frame(*table).write_ndjson(path),
        "xlsx": lambda path, *table: frame(*table).write_excel(path),
        "parquet": lambda path, *table: frame(*table).write_parquet(path),
        "arrow": lambda path, *table: frame(*table).write_ipc_stream(path),
        "arrow-file": lambda path, *table: frame(*table).write_ipc(path),
    },
)
