#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { dirname } from 'node:path'

// In a checkout the sources run as they are; the package, which has no tsconfig.json, holds what was built of them.
const checkout = existsSync(new URL('../tsconfig.json', import.meta.url))

// This file is read by every runtime, also those that can't read what it loads: plain JavaScript, no new syntax.
const problem = runtimeProblem(process.versions)
if (problem) {
  console.error(`parquetry: ${problem}`)
  process.exit(1)
}

// Node 22 calls node:sqlite experimental, which is of no interest to who types a command.
const { emitWarning } = process
process.emitWarning = (warning, ...rest) => {
  if (!/^SQLite is an experimental/.test(String(warning))) emitWarning.call(process, warning, ...rest)
}

// Keeps compiled code between starts, which halves the time to the first answer. It is in the system's folder for
// temporary files unless NODE_COMPILE_CACHE names another. Threads and processes started from here read the variable.
// This must come before the first TypeScript, or else Node loads its compiler for that file alone.
module.enableCompileCache()
const cache = module.getCompileCacheDir()
if (cache !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(cache)

const sources = new URL(checkout ? '../' : '../dist/', import.meta.url).href

// Our modules name each other by file. Node would look for each file, its real path and the package.json of its folder,
// which takes an eighth of the time to the first answer.
module.registerHooks({
  resolve(name, context, next) {
    const parent = context.parentURL
    const isOurs = /^\.\.?\/.*\.[jt]s$/.test(name) && parent.startsWith(sources)
    if (!isOurs || parent.startsWith('node_modules/', sources.length)) return next(name, context)
    const { href: url } = new URL(name, parent)
    return { url, format: url.endsWith('.ts') ? 'module-typescript' : 'module', shortCircuit: true }
  },
})
await import(`${sources}server/main.${checkout ? 'ts' : 'js'}`)

/** Why this runtime won't do; undefined where it does. */
function runtimeProblem({ node, bun, deno }) {
  const needed = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node
  const [major, minor] = needed.replace('>=', '').split('.').map(Number)
  const other = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : undefined
  if (other) return `this needs Node ${major}.${minor} or newer and does not run on ${other}.`
  const [ownMajor, ownMinor] = node.split('.').map(Number)
  if (ownMajor < major || (ownMajor === major && ownMinor < minor))
    return `this needs Node ${major}.${minor} or newer; here runs Node ${node}. \`npm install node@24\` puts one beside it, which npx then uses.`
  if (checkout && ownMajor < 24)
    return `the sources need Node 24, which npm ci has installed: npx node server/bin.js; here runs Node ${node}.`
}
