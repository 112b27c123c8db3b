#!/usr/bin/env node
import { existsSync } from 'node:fs'

// Node 22 calls node:sqlite experimental, which is of no interest to who types a command.
const { emitWarning } = process
process.emitWarning = (warning, ...rest) => {
  if (!/^SQLite is an experimental/.test(String(warning))) emitWarning.call(process, warning, ...rest)
}

// In a checkout the sources run as they are; the package, which has no tsconfig.json, holds what was built of them.
const checkout = existsSync(new URL('../tsconfig.json', import.meta.url))
await import(new URL(checkout ? './main.ts' : '../dist/server/main.js', import.meta.url).href)
