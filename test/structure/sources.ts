import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** All sources of a room, by their paths from the root. */
export function sources(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/(^|\/)(dist|node_modules)\//.test(name))
    .map((name) => join(room, name))
}

export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** What a source imports of ours, types included, by paths from the root. */
export function imports(file: string): string[] {
  return [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map((match) =>
    relative(root, resolve(root, dirname(file), match[1]!)),
  )
}
