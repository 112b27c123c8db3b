import { EngineError } from '../errors.ts'

/** A place in the filter: offsets in UTF-16 units, with an exclusive end. */
export interface Span {
  readonly at: number
  readonly end: number
}

/** The error for a filter that is not a valid expression. The message counts positions from 1. */
export function invalid(at: number, sentence: string): EngineError {
  return new EngineError('invalid_filter', `At position ${at + 1}: ${sentence}`, {
    details: { position: at + 1 },
  })
}

/** The error for an operator or a function whose operand has a type that it does not take. */
export function mistyped(at: number, sentence: string): EngineError {
  return new EngineError('filter_type_error', `At position ${at + 1}: ${sentence}`, {
    details: { position: at + 1 },
  })
}

export function tooComplex(sentence: string): EngineError {
  return new EngineError('filter_too_complex', sentence)
}

/** A piece of the filter for a message. If it is long, its middle is left out. */
export function excerpt(text: string): string {
  const characters = [...text]
  return characters.length <= 40
    ? text
    : `${characters.slice(0, 24).join('')} … ${characters.slice(-12).join('')}`
}
