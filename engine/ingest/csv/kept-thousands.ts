import { hint } from '../../errors.ts'
import type { ReadRequest } from '../request.ts'
import type { Target } from '../targets.ts'
import { quoteValue } from '../text/errors.ts'
import { isNumeric } from '../text/text-kinds.ts'
import { POINTS } from './open.ts'

/**
 * Looks whether a file shows that its numbers have the thousands separator of an earlier upload: `1.234` is 1234 with it,
 * and may be 1.234 as well, unless another number is `1.234.567` or has the other character before decimal places.
 */
export class KeptThousands {
  /** Undefined if there is nothing to look for. */
  readonly #mark: '.' | ',' | undefined
  #open: { readonly field: number; readonly row: number; readonly text: string } | undefined
  #isShown = false

  constructor({ options = {}, stored = [] }: Pick<ReadRequest, 'options' | 'stored'>) {
    const { thousands } = options
    const isGiven = (['decimal', 'thousands'] as const).some(
      (name) => options[name] && !stored.includes(name),
    )
    this.#mark = !isGiven && (thousands === '.' || thousands === ',') ? thousands : undefined
  }

  /** Takes a text that was read as a number in another way than usual. @param row from 1 */
  note(field: number, row: number, text: string): void {
    if (this.#mark === undefined || this.#isShown) return
    const [, ...groups] = text.split(this.#mark)
    if (groups.length > 1 || text.includes(this.#mark === '.' ? ',' : '.')) this.#isShown = true
    else if (groups.length === 1) this.#open ??= { field, row, text }
  }

  /** @param kinds of the values of each field */
  warnings(targets: readonly Target[], kinds: readonly number[]): readonly string[] {
    const mark = this.#mark
    if (!this.#open || this.#isShown || mark === undefined) return []
    const { field, row, text } = this.#open
    const isPointed = ({ type, source }: Target) => isNumeric(type) && (kinds[source ?? -1]! & POINTS) !== 0
    if (targets.some(isPointed)) return []
    const { name } = targets.find(({ source }) => source === field)!
    return [
      `Row ${row}, column ${JSON.stringify(name)}: ${quoteValue(text)} was read with ${hint(`thousands=${mark}`)} of an ` +
        'earlier upload, and no number of the file shows that. If its ' +
        `${mark === '.' ? 'point' : 'comma'} is before decimal places, the file needs ${hint(`decimal=${mark}`)} instead.`,
    ]
  }
}
