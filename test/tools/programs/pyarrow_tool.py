import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
from common import serve

KINDS = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "double": pa.float64(),
    "decimal(18,4)": pa.decimal128(18, 4),
    "decimal(38,10)": pa.decimal128(38, 10),
    "string": pa.string(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "uuid": pa.uuid(),
    "binary": pa.binary(),
    "json": pa.json_(),
}


def column(table):
    return table["value"].to_pylist()


def table(numbers, values, kind):
    of = KINDS[kind]
    if kind == "uuid":
        values = [value and value.bytes for value in values]
    if isinstance(of, pa.BaseExtensionType):
        values = pa.ExtensionArray.from_storage(of, pa.array(values, of.storage_type))
    else:
        values = pa.array(values, of)
    return pa.table({"n": numbers, "value": values})


def write(open_writer, path, made):
    with open_writer(path, made.schema) as writer:
        writer.write_table(made)


LINES = pa.csv.ParseOptions(newlines_in_values=True)
TABS = pa.csv.ParseOptions(newlines_in_values=True, delimiter="\t")

NULLS = pa.csv.ConvertOptions(null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False)

serve(
    {
        "csv": lambda path: column(pa.csv.read_csv(path, parse_options=LINES, convert_options=NULLS)),
        "tsv": lambda path: column(pa.csv.read_csv(path, parse_options=TABS, convert_options=NULLS)),
        "ndjson": lambda path: column(pa.json.read_json(path)),
        "parquet": lambda path: column(pa.parquet.read_table(path)),
        "arrow": lambda path: column(pa.ipc.open_stream(path).read_all()),
        "arrow-file": lambda path: column(pa.ipc.open_file(pa.memory_map(path)).read_all()),
    },
    {
        "csv": lambda path, *made: pa.csv.write_csv(table(*made), path),
        "tsv": lambda path, *made: pa.csv.write_csv(table(*made), path, pa.csv.WriteOptions(delimiter="\t")),
        "parquet": lambda path, *made: pa.parquet.write_table(table(*made), path),
        "arrow": lambda path, *made: write(pa.ipc.new_stream, path, table(*made)),
        "arrow-file": lambda path, *made: write(pa.ipc.new_file, path, table(*made)),
    },
)
