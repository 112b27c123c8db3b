#!/usr/bin/env bash
# Perspective 5.5.1 (npm, @perspective-dev/client), on JSON in which an integer of more than 32 bits comes after a null.
# Guess: null stays null.
# Found: the column becomes one of doubles, and each null above is 0.
# What to do: give it Arrow, whose columns have types.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent @perspective-dev/client@5.5.1
cat >read.mjs <<'JS'
import perspective from '@perspective-dev/client'
const rows = [{ a: 1 }, { a: null }, { a: 999999999999999 }]
const table = await perspective.table(JSON.stringify(rows), { format: 'json' })
console.log(JSON.stringify((await (await table.view()).to_columns()).a))
process.exit()
JS
seen=$(node read.mjs)
expected="[1,0,999999999999999]"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
