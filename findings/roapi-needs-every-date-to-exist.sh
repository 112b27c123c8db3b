#!/usr/bin/env bash
# ROAPI 0.12.7 (PyPI) on a csv file whose third day is 30 February.
# Guess: the column is text, because not all of its values are dates.
# Found: the column is a date because of its form, and the server does not start: "Error while parsing value".
# What to do: declare the column as Utf8 in the configuration.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q roapi==0.12.7
printf 'id,day\n1,2024-01-02\n2,2024-01-03\n3,2024-02-30\n' >days.csv
if timeout 60 venv/bin/roapi -a 127.0.0.1:18097 -p 127.0.0.1:18096 -t "days=$work/days.csv" >log 2>&1; then
  echo 'changed; it ended with success'
  exit 1
fi
seen=$(grep -o "Error while parsing value '2024-02-30' as type 'Date32'" log || true)
echo "seen: $seen"
[ -n "$seen" ] || { echo 'changed; it did not start because of the value'; exit 1; }
