"""Prints what we wrote into a file, and writes the rows again with words in the places that Arrow has for them."""

import sys

import pyarrow as pa
import pyarrow.parquet

form, read, write = sys.argv[1:]
if form == "parquet":
    table = pa.parquet.read_table(read)
else:
    table = (pa.ipc.open_file if form == "arrow-file" else pa.ipc.open_stream)(read).read_all()
print(table.schema.metadata[b"parquetry"].decode())

fields = [pa.field(f.name, f.type, metadata={"unit": "cm", "title": f.name.upper()}) for f in table.schema]
schema = pa.schema(fields, metadata={"title": "By pyarrow", "keywords": "one, two"})
made = pa.Table.from_arrays(table.columns, schema=schema)
if form == "parquet":
    pa.parquet.write_table(made, write)
else:
    with (pa.ipc.new_file if form == "arrow-file" else pa.ipc.new_stream)(write, schema) as writer:
        writer.write_table(made)
