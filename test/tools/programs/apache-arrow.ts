import { readFile } from 'node:fs/promises'
import { DataType, tableFromIPC } from 'apache-arrow'
import type { Cell } from '../judge.ts'
import { cell, serve } from './common.ts'

async function read(path: string, type: string): Promise<readonly Cell[]> {
  const column = tableFromIPC(await readFile(path)).getChild('value')!
  const isDecimal = DataType.isDecimal(column.type)
  return Array.from(column, (value) =>
    isDecimal && value !== null ? ['int', String(value)] : cell(value, type),
  )
}

await serve({ arrow: read, 'arrow-file': read })
