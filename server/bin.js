#!/usr/bin/env node
// In a checkout the sources run as they are; the package holds what was built of them.
import { existsSync } from 'node:fs'

const source = new URL('./main.ts', import.meta.url)
const entry = existsSync(source) ? source : new URL('./main.js', import.meta.url)
await import(entry.href)
