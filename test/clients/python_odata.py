"""Reads a feed with python-odata and prints what it found, one finding on each line.

Arguments: service root, key, entity set with the columns "n" (integer) and "word" (string), and the filters for each
type of the entity set "kinds": lines of column and filter.
"""

import datetime
import decimal
import sys
import uuid

import requests
from odata import ODataService
from odata.exceptions import ODataError

root, key, name, filters = sys.argv[1:]
session = requests.Session()
session.auth = (key, "any")
service = ODataService(root, session=session, reflect_entities=True, quiet_progress=True)
entity = service.entities[name]

print("sets", sorted(service.entities))
numbers = [row.n for row in service.query(entity)]
print("rows", len(numbers), "sum", sum(numbers))
query = service.query(entity).filter(entity.n > 5).filter(entity.word.contains("w")).order_by(entity.n.desc()).limit(2)
print("filtered", [row.n for row in query])
row = service.query(entity).get(17)
print("entity", row.Row, row.n)
chosen = service.query(entity).select(entity.n).order_by(entity.n.desc()).first()
print("selected", chosen["n"] if isinstance(chosen, dict) else chosen.n)

# No entity has relations, so the client is made to expand a property.
try:
    list(service.query(entity).expand(entity.word))
    print("expanded")
except ODataError as error:
    print("expand", error.status_code, error.message)

# Types that the client knows are compared with values of Python, the others with the filter as text.
known = {
    "v_boolean": True,
    "v_integer": 42,
    "v_decimal": decimal.Decimal("12.34"),
    "v_string": "it's é",
    "v_timestamp": datetime.datetime(2024, 2, 29, 10, 20, 30),
    "v_uuid": uuid.UUID("550e8400-e29b-41d4-a716-446655440000"),
}


def shown(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return str(value)


Kind = service.entities["kinds"]
for line in filters.split("\n"):
    column, text = line.split("\t")
    property = getattr(Kind, column)
    (found,) = service.query(Kind).filter(property == known[column] if column in known else text)
    (empty,) = service.query(Kind).filter(property.is_null())
    print(f"{column} in row {found.Row} is {shown(getattr(found, column))}, null in row {empty.Row}")
