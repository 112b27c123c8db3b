export interface Suggestion {
  readonly label: string
  readonly note: string
  readonly kind: 'column' | 'function' | 'operator' | 'value'
  /** What takes the place of `from` to `to`: the text before the caret, and the text behind it. */
  readonly insert: string
  readonly behind: string
}

export function suggestion(
  kind: Suggestion['kind'],
  label: string,
  note: string,
  insert = `${label} `,
  behind = '',
): Suggestion {
  return { kind, label, note, insert, behind }
}

export interface Completion {
  readonly from: number
  readonly to: number
  readonly suggestions: readonly Suggestion[]
}
