"""Reads a catalog with pyiceberg and prints what it found as JSON, one finding on each line.

Arguments: address of the catalog, key of a reader, name of a namespace, table, and a table that is written meanwhile.
A line on the standard input says that it has been.
"""

import json
import sys

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.expressions import EqualTo, GreaterThanOrEqual

address, key, namespace, name, moving = sys.argv[1:]


def found(what, value):
    print(json.dumps([what, value], default=str), flush=True)


def texts(rows):
    return [[None if value is None else str(value) for value in row.values()] for row in rows]


catalog = RestCatalog("people", uri=address, token=key)
plain = RestCatalog("plain", uri=address, token=key, warehouse="plain")
found("namespaces", catalog.list_namespaces())
found("tables", sorted(catalog.list_tables(namespace)))
found("exists", [catalog.table_exists((namespace, name)), catalog.table_exists((namespace, "no such table"))])

table = catalog.load_table((namespace, name))
found("columns", [[field.name, str(field.field_type), field.required] for field in table.schema().fields])
found("rows", texts(table.scan().to_arrow().to_pylist()))
few = table.scan(row_filter=GreaterThanOrEqual("Größe n", 30), selected_fields=("Größe n",))
found("files", [len(list(few.plan_files())), len(list(table.scan().plan_files()))])
found("filtered", few.to_arrow().to_pydict())
none = table.scan(row_filter=EqualTo("text", "beyond all texts"))
found("no files", len(list(none.plan_files())))

by_id = (plain.list_namespaces()[0][0], "d" + table.properties["parquetry.dataset"])
found("plain", [field.name for field in plain.load_table(by_id).schema().fields])
numbered = plain.load_table(by_id).scan(selected_fields=("r", "f", "c0")).to_arrow().to_pylist()
found("numbered", sorted([row["f"] + row["r"], str(row["c0"])] for row in numbered))

held = catalog.load_table((namespace, moving))
pinned = catalog.load_table((namespace, moving + "@" + held.properties["parquetry.version"]))
found("before", held.scan().to_arrow().to_pydict())
sys.stdin.readline()
found("held", held.scan().to_arrow().to_pydict())
found("pinned", pinned.scan().to_arrow().to_pydict())
found("after", catalog.load_table((namespace, moving)).scan().to_arrow().to_pydict())


def refusal(attempt):
    try:
        attempt()
    except Exception as error:
        return str(error).split(":")[0]
    return "nothing"


found("private", refusal(lambda: catalog.load_table(("secret", "secret"))))
found("dropped", refusal(lambda: catalog.drop_table((namespace, name))))
found("written", refusal(lambda: table.append(table.scan().to_arrow())))
found("wrong key", refusal(lambda: RestCatalog("wrong", uri=address, token="not-a-key").list_namespaces()))
