"""Checks the descriptions of datasets in a folder by the programs that they are for."""

import json
import pathlib
import sys

import frictionless
import mlcroissant

valid = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    if path.name.endswith("croissant.json"):
        dataset = mlcroissant.Dataset(jsonld=str(path))
        issues = dataset.metadata.ctx.issues
        problems = list(issues.errors)
    else:
        report = frictionless.Package.metadata_validate(json.loads(path.read_text()))
        problems = [error.message for error in report]
    if problems:
        sys.exit(f"{path.name}: {problems}")
    valid += 1
print(f"{valid} documents are valid")
