export interface Suggestion {
  readonly label: string
  /** A short description beside the label. */
  readonly note: string
  readonly kind: 'column' | 'function' | 'operator' | 'value'
  /** The text that replaces `from` to `to`. */
  readonly insert: string
  /** Position of the caret, as characters back from the end of the inserted text. */
  readonly caretBack: number
}

export interface Completion {
  readonly from: number
  readonly to: number
  readonly suggestions: readonly Suggestion[]
}
