#!/usr/bin/env bash
# Perspective 5.5.1 (npm, @perspective-dev/client), on JSON rows that hold a list.
# Guess: as many rows as there are, and the list as text or an error.
# Found: a row for each value of the list, which repeats the other columns, so that sums count them twice.
# What to do: give it Arrow in which such values are text.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent @perspective-dev/client@5.5.1
cat >read.mjs <<'JS'
import perspective from '@perspective-dev/client'
const rows = [{ price: 5, tags: ['a', 'b'] }, { price: 7, tags: ['c'] }]
const table = await perspective.table(JSON.stringify(rows), { format: 'json' })
console.log(JSON.stringify((await (await table.view()).to_columns()).price))
process.exit()
JS
seen=$(node read.mjs)
expected="[5,5,7]"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
