#!/usr/bin/env bash
# Perspective 5.5.1 (npm, @perspective-dev/client), on JSON rows that hold a list, and on JSON in which an integer of more
# than 32 bits comes after a null.
# Guess: as many rows as there are, with the list as text or an error; null stays null.
# Found: a row for each value of the list, which repeats the other columns, so that sums count them twice; the column
# becomes one of doubles, and each null above is 0.
# What to do: give it Arrow, whose columns have types, and in which lists are text.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent @perspective-dev/client@5.5.1
cat >read.mjs <<'JS'
import perspective from '@perspective-dev/client'
const read = async (rows) => {
  const table = await perspective.table(JSON.stringify(rows), { format: 'json' })
  return (await (await table.view()).to_columns()).n
}
const lists = await read([{ n: 5, tags: ['a', 'b'] }, { n: 7, tags: ['c'] }])
const nulls = await read([{ n: 1 }, { n: null }, { n: 999999999999999 }])
console.log(JSON.stringify({ lists, nulls }))
process.exit()
JS
seen=$(node read.mjs)
expected='{"lists":[5,5,7],"nulls":[1,0,999999999999999]}'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
