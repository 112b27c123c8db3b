import { text } from 'node:stream/consumers'
import type { Cell } from '../judge.ts'
import type { Outcome, Task } from '../tools.ts'

/** What the programs of all JavaScript tools share, as `common.py` does for Python: they read our files only. */

type Read = (path: string, type: string) => Promise<readonly Cell[]>

/** Does the tasks of standard input. A reader gives the cells of the column "value". */
export async function serve(readers: Partial<Record<Task['format'], Read>>): Promise<void> {
  for (const { way, format, path, tried } of JSON.parse(await text(process.stdin)) as Task[]) {
    const read = way === 'download' ? readers[format] : undefined
    const outcome: Outcome = read
      ? await read(path, tried.type).then(
          (cells) => ({ cells }),
          (error: unknown) => ({ error: String(error).slice(0, 300) }),
        )
      : { none: true }
    console.log(JSON.stringify(outcome))
  }
}

/** A value that a tool gave, as a program in JavaScript sees it. Its dates have no zone of their own. */
export function cell(value: unknown, type: string): Cell {
  if (value === null || value === undefined) return ['null', null]
  if (typeof value === 'boolean') return ['bool', String(value)]
  if (typeof value === 'bigint') return ['int', String(value)]
  if (typeof value === 'number') return ['float', Object.is(value, -0) ? '-0' : String(value)]
  if (typeof value === 'string') return ['str', value]
  if (value instanceof Uint8Array) return ['bytes', Buffer.from(value).toString('base64')]
  if (value instanceof Date) {
    const text = value.toISOString()
    return type === 'timestamptz' ? ['datetimetz', text] : ['datetime', text.replace('Z', '')]
  }
  return ['object', JSON.stringify(value)]
}
