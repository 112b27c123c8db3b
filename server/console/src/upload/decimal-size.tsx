import type { ColumnType } from '../../../client/index.ts'

const MOST_DIGITS = 38

/** Inputs for precision and scale of a decimal type. */
export function DecimalSize(props: {
  readonly name: string
  readonly type: ColumnType
  readonly onType: (type: ColumnType) => void
}) {
  const [, digits = '18', behind = '2'] = /^decimal\((\d+),(\d+)\)$/.exec(props.type) ?? []
  const change = (wanted: number, scale: number) => {
    const precision = Math.min(MOST_DIGITS, Math.max(1, Math.trunc(wanted) || 1))
    props.onType(`decimal(${precision},${Math.min(precision, Math.max(0, Math.trunc(scale) || 0))})`)
  }
  return (
    <span class="decimal-size">
      <input
        type="number"
        min={1}
        max={MOST_DIGITS}
        aria-label={`Digits of ${props.name}`}
        title="Digits in all"
        value={digits}
        onChange={(event) => change(Number(event.currentTarget.value), Number(behind))}
      />
      <input
        type="number"
        min={0}
        max={Number(digits)}
        aria-label={`Digits of ${props.name} after the point`}
        title="Digits behind the point"
        value={behind}
        onChange={(event) => change(Number(digits), Number(event.currentTarget.value))}
      />
    </span>
  )
}
