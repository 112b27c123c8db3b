import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The version in package.json. It is one folder above the sources, and two folders above the built files. */
export function ownVersion(): string {
  const file = ['../package.json', '../../package.json']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path))
  return file === undefined ? '0.0.0' : JSON.parse(readFileSync(file, 'utf8')).version
}
