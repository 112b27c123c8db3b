import { EngineError } from '../errors.ts'

/** Where something stands in the filter: offsets in UTF-16 units, the end exclusive. */
export interface Span {
  readonly at: number
  readonly end: number
}

/** `$filter` is not an expression that we take. The message counts positions from 1. */
export function invalid(at: number, sentence: string): EngineError {
  return new EngineError('invalid_filter', `At position ${at + 1}: ${sentence}`, {
    details: { position: at + 1 },
  })
}

/** An operator or a function got a type that it does not take. */
export function mistyped(at: number, sentence: string): EngineError {
  return new EngineError('filter_type_error', `At position ${at + 1}: ${sentence}`, {
    details: { position: at + 1 },
  })
}

export function tooComplex(sentence: string): EngineError {
  return new EngineError('filter_too_complex', sentence)
}

/** A piece of the filter as messages quote it, shortened in the middle. */
export function excerpt(text: string): string {
  const characters = [...text]
  return characters.length <= 40
    ? text
    : `${characters.slice(0, 24).join('')} … ${characters.slice(-12).join('')}`
}
