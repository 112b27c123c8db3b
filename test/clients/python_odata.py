"""Reads a feed with python-odata and prints what it found, one finding on each line.

Arguments: service root, key, entity set with the columns "n" (integer) and "word" (string).
"""

import sys

import requests
from odata import ODataService

root, key, name = sys.argv[1:]
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
