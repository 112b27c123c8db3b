import { hint, invalidOption } from '../errors.ts'
import { type OptionProblem, type OptionTable, unknownOption, wrongOption } from './option-values.ts'

/**
 * Refuses options that don't exist, because one that is misspelt would otherwise be ignored.
 * @param known a table of options, or `Names`
 * @throws EngineError `invalid_option`
 */
export function requireKnown(options: object, known: object): void {
  refuse(unknownOption(options, known))
}

/**
 * Checks options against their table.
 * @param format of the file that is written or read
 * @throws EngineError `invalid_option`
 */
export function checkOptions(options: object, table: OptionTable, format?: string): void {
  refuse(wrongOption(options, table, hint, format))
}

function refuse(wrong: OptionProblem | undefined): void {
  if (wrong) throw invalidOption(wrong.problem, wrong.option)
}
