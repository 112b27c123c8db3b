import type { EngineError } from '../../../engine/errors.ts'
import { compileFilter } from '../../../engine/filter/index.ts'
import { GOODS } from './goods.ts'
import { column } from './table.ts'

const columns = Object.entries(GOODS).map(([name, type], index) => column(name, type, index))

/** The error with which a filter over the goods is refused. */
export function refusal(filter: string): EngineError {
  try {
    compileFilter(filter, columns)
  } catch (error) {
    return error as EngineError
  }
  throw new Error(`${filter} was not refused`)
}
