import { type OptionTable, unknownOption, wrongOption } from '../../engine/options.ts'
import { ParquetryError } from './errors.ts'

/**
 * Refuses options that don't exist, because one that is misspelt would otherwise be ignored.
 * @throws ParquetryError `invalid_option`
 */
export function requireKnown(options: object, known: object): void {
  refuse(unknownOption(options, known))
}

/** Checks options against their table. @throws ParquetryError `invalid_option` */
export function checkOptions(options: object, table: OptionTable): void {
  refuse(wrongOption(options, table))
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw invalidOption(problem)
}

export function invalidOption(message: string): ParquetryError {
  return new ParquetryError(message, { status: 0, code: 'invalid_option' })
}
