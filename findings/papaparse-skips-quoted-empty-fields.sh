#!/usr/bin/env bash
# papaparse 5.7.1 (npm), `skipEmptyLines: true`, on a column with a null that is written as "".
# Guess: only lines without any character are skipped.
# Found: a line "" is skipped, too, so there are fewer rows; without the option, there is one row more than the file has,
# for the end of its last line.
# What to do: leave `skipEmptyLines` out, and drop the last row.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund papaparse@5.7.1
cat >try.cjs <<'JS'
const Papa = require('papaparse')
const rows = (options) => Papa.parse('n\n1\n""\n3\n', { header: true, ...options }).data.map((row) => row.n)
console.log(JSON.stringify([rows({ skipEmptyLines: true }), rows({})]))
JS
seen=$(node try.cjs)
expected='[["1","3"],["1","","3",""]]'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
