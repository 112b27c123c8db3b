import pandas as pd
import pyarrow as pa
from common import serve


def column(data):
    return [None if value is pd.NA or value is pd.NaT else value for value in data["value"].astype(object)]


# Without it, whole numbers with a gap become doubles.
NULLABLE = {"dtype_backend": "numpy_nullable"}

KINDS = {"boolean": "boolean", "integer": "Int64", "double": "float64", "string": "str", "json": "str"}
MOMENTS = {"timestamp": "datetime64[us]", "timestamptz": "datetime64[us, UTC]"}


def frame(numbers, values, kind):
    dtype = KINDS.get(kind) or MOMENTS.get(kind) or "object"
    if any(isinstance(value, (dict, list)) for value in values):
        dtype = "object"
    return pd.DataFrame({"n": numbers, "value": pd.Series(values, dtype=dtype)})


serve(
    {
        "csv": lambda path: column(pd.read_csv(path, **NULLABLE)),
        "tsv": lambda path: column(pd.read_csv(path, sep="\t", **NULLABLE)),
        "json": lambda path: column(pd.read_json(path, **NULLABLE)),
        "ndjson": lambda path: column(pd.read_json(path, lines=True, **NULLABLE)),
        "xlsx": lambda path: column(pd.read_excel(path, **NULLABLE)),
        "parquet": lambda path: column(pd.read_parquet(path, **NULLABLE)),
        "arrow": lambda path: column(pa.ipc.open_stream(path).read_all().to_pandas(types_mapper=pd.ArrowDtype)),
        "arrow-file": lambda path: column(pd.read_feather(path, dtype_backend="pyarrow")),
    },
    {
        "csv": lambda path, *table: frame(*table).to_csv(path, index=False),
        "tsv": lambda path, *table: frame(*table).to_csv(path, index=False, sep="\t"),
        "json": lambda path, *table: frame(*table).to_json(path, orient="records", date_format="iso", date_unit="us"),
        "ndjson": lambda path, *table: frame(*table).to_json(
            path, orient="records", lines=True, date_format="iso", date_unit="us"
        ),
        "xlsx": lambda path, *table: frame(*table).to_excel(path, index=False),
        "parquet": lambda path, *table: frame(*table).to_parquet(path),
        "arrow-file": lambda path, *table: frame(*table).to_feather(path),
    },
    nan_is_null=True,
)
