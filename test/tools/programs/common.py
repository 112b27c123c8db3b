"""What the programs of all Python tools share: values from text and back, and the loop over what is asked.

Standard input is JSON: a list of tasks {"way", "format", "path", "type", "values"}. The answer is JSON lines, one to a
task: {"cells": [[kind, text], …]} of what was read, {} of what was written, {"error"} where the tool refuses, {"none"}
where it has no such format.
"""

import base64
import datetime
import decimal
import json
import math
import sys
import uuid


def native(kind, text, format):
    """A value as a Python program holds it."""
    if text is None:
        return None
    kind = kind.split("(")[0]
    if kind == "boolean":
        return text == "true"
    if kind == "integer":
        return int(text)
    if kind == "double":
        return float(text)
    if kind == "decimal":
        return decimal.Decimal(text)
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind == "time":
        return datetime.time.fromisoformat(text if "." not in text else text.ljust(15, "0"))
    if kind in ("timestamp", "timestamptz"):
        return datetime.datetime.fromisoformat(text)
    if kind == "uuid":
        return uuid.UUID(text)
    if kind == "binary":
        return base64.b64decode(text)
    if kind == "json" and format in ("json", "ndjson"):
        return json.loads(text)
    return text


def cell(value, nan_is_null=False):
    """A value that a tool gave, as [kind, text]."""
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return ["null", None]
    if hasattr(value, "item") and type(value).__module__ == "numpy":
        value = value.item()
    if isinstance(value, bool):
        return ["bool", "true" if value else "false"]
    if isinstance(value, int):
        return ["int", str(value)]
    if isinstance(value, float):
        if math.isnan(value) and nan_is_null:
            return ["null", None]
        return ["float", repr(value)]
    if isinstance(value, decimal.Decimal):
        return ["decimal", format(value, "f")]
    if isinstance(value, str):
        return ["str", value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return ["bytes", base64.b64encode(bytes(value)).decode()]
    if isinstance(value, datetime.datetime):
        return ["datetime" if value.tzinfo is None else "datetimetz", value.isoformat()]
    if isinstance(value, datetime.date):
        return ["date", value.isoformat()]
    if isinstance(value, datetime.time):
        return ["time", value.isoformat()]
    if isinstance(value, uuid.UUID):
        return ["uuid", str(value)]
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, (dict, list)):
        return ["object", json.dumps(value)]
    return [type(value).__name__, str(value)]


def serve(readers, writers, nan_is_null=False):
    """Does the tasks of standard input. A reader gives the values of the column "value"; a writer takes numbers, values
    and the name of their type."""
    for task in json.load(sys.stdin):
        way, format, path = task["way"], task["format"], task["path"]
        program = (readers if way == "download" else writers).get(format)
        if program is None:
            answer = {"none": True}
        else:
            try:
                if way == "download":
                    answer = {"cells": [cell(value, nan_is_null) for value in program(path)]}
                else:
                    values = [native(task["type"], text, format) for text in task["values"]]
                    program(path, list(range(1, len(values) + 1)), values, task["type"])
                    answer = {}
            except BaseException as error:
                answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)
