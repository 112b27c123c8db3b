#!/usr/bin/env bash
# openapi-python-client 0.29.1 (PyPI), on an operation whose required body may have two media types.
# Guess: a function that takes a body.
# Found: the body is optional, and the module can't be imported: `Unset` is named in it but not imported, unless another
# parameter of the operation is optional.
# What to do: give the two media types schemas of their own in place of one component, so that the generator leaves out
# the second with a warning.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q openapi-python-client==0.29.1 ruff
cat >api.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "pets", "version": "1" },
  "paths": {
    "/pets": {
      "patch": {
        "operationId": "patchPet",
        "tags": ["pets"],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": { "schema": { "$ref": "#/components/schemas/Pet" } },
            "application/merge-patch+json": { "schema": { "$ref": "#/components/schemas/Pet" } }
          }
        },
        "responses": { "204": { "description": "done" } }
      }
    }
  },
  "components": { "schemas": { "Pet": { "type": "object", "properties": { "name": { "type": "string" } } } } }
}
JSON
PATH="$PWD/venv/bin:$PATH" venv/bin/openapi-python-client generate --path api.json --output-path made --meta none >/dev/null
seen=$(venv/bin/python -c 'import made.api.pets.patch_pet' 2>&1 | tail -1 || true)
expected="NameError: name 'Unset' is not defined. Did you mean: 'UNSET'?"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
