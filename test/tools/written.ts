import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Served } from '../client/served.ts'

/** A file that a program wrote, and what its own reader finds in it. */
interface Written {
  readonly program: string
  readonly file: string
  /** With which options it is uploaded. */
  readonly query: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

type Cell = readonly [kind: 'number' | 'boolean' | 'time' | 'text', text: string] | null
type Row = Readonly<Record<string, string | number | boolean | null>>

/**
 * Has the programs write files, uploads each, and compares value by value. Gives a line for each program and for each file
 * that is read otherwise.
 * @param folder gets the files
 */
export async function tryWritten(
  { url, key }: Served,
  python: string,
  folder: string,
): Promise<{ readonly lines: readonly string[]; readonly faults: readonly string[] }> {
  const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
  const call = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { ...init.headers, authorization } })
  const make = async (path: string, fields: object) => {
    const headers = { 'content-type': 'application/json' }
    return (await call(path, { method: 'POST', headers, body: JSON.stringify(fields) })).json()
  }
  const script = join(import.meta.dirname, 'written.py')
  const { stdout } = await promisify(execFile)(python, [script, folder])
  const { id: repositoryId } = await make('/repositories', { name: 'written by others' })
  const { id } = await make('/datasets', { name: 'each of them', repositoryId })
  const written = JSON.parse(readFileSync(join(folder, 'written.json'), 'utf8')) as Written[]
  const faults: string[] = []
  for (const { program, file, query, columns, rows } of written) {
    const form = new FormData()
    form.append('file', new File([readFileSync(join(folder, file))], file))
    const path = `/datasets/${id}/data`
    const sent = await call(`${path}?columns=replace&${query}`, { method: 'PUT', body: form })
    const answer = await sent.json()
    const json = `${path}?$format=${encodeURIComponent('application/json;IEEE754Compatible=true')}`
    const fault = sent.ok
      ? faultIn(columns, rows, await (await call(json)).json(), answer.columns)
      : `${sent.status} ${answer.error}`
    if (fault !== undefined) faults.push(`${program}, ${file}: ${fault}`)
  }
  const programs = Map.groupBy(written, ({ program }) => program)
  const lines = [...programs].map(([program, files]) => `${program}: ${files.length} files`)
  return { lines: [...stdout.split('\n').filter((line) => line !== ''), ...lines], faults }
}

/** The first difference between what was found and what was given. */
export function faultIn(
  names: readonly string[],
  rows: Written['rows'],
  given: readonly Row[],
  columns: readonly { readonly name: string; readonly type: string }[],
): string | undefined {
  const own = columns.map(({ name }) => name)
  if (String(own) !== String(names)) return `columns ${own}, not ${names}`
  if (given.length !== rows.length) return `${given.length} rows, not ${rows.length}`
  for (const [row, cells] of rows.entries()) {
    for (const [index, cell] of cells.entries()) {
      const { name, type } = columns[index]!
      const value = given[row]![name]!
      if (isSame(cell, value, type)) continue
      return `row ${row + 1}, ${JSON.stringify(name)} (${type}): ${JSON.stringify(value)}, not ${JSON.stringify(cell)}`
    }
  }
  return undefined
}

const NUMBERS = /^(?:integer|double|decimal)/

function isSame(cell: Cell, value: Row[string], type: string): boolean {
  // An empty text is null in a column of anything else.
  if (cell === null || value === null) return cell === value || (cell?.[1] === '' && type !== 'string')
  const [kind, text] = cell
  if (kind === 'boolean') return value === (text === 'true')
  if (kind === 'text') return value === text && !NUMBERS.test(type)
  if (kind === 'time') return type !== 'string' && typeof value === 'string' && moment(value) === moment(text)
  if (!NUMBERS.test(type)) return false
  const isWhole = /^-?\d+$/.test(text) && /^-?\d+$/.test(String(value))
  return isWhole ? BigInt(text) === BigInt(value as string) : Number(text) === Number(value)
}

/** A day is its midnight. */
const moment = (text: string) => text.replace(/(\.\d*?)0+$/, '$1').replace(/\.?$|T00:00:00$/, '')
