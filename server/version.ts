import { readFileSync } from 'node:fs'

/** The folder of package.json: one above the sources, and two above the built files. */
export const PACKAGE = new URL(import.meta.url.endsWith('.ts') ? '../' : '../../', import.meta.url)

export function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8')).version
}
