import type { ColumnType } from '../../../client/index.ts'

/** The types that the user can choose for a column; a decimal comes after the first three. */
const CHOICES: readonly ColumnType[] = [
  'boolean',
  'integer',
  'double',
  'string',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
  'binary',
  'json',
]
const MOST_DIGITS = 38

/** A select for the type of a column, with the digits of a decimal. */
export function TypeChoice(props: {
  readonly name: string
  readonly type: ColumnType
  /** The first values of the column. */
  readonly values: readonly string[]
  readonly onType: (type: ColumnType) => void
}) {
  const { name, type, onType } = props
  const [, digits, behind] = /^decimal\((\d+),(\d+)\)$/.exec(type) ?? []
  const decimal = digits === undefined ? decimalFor(props.values) : type
  const change = (wanted: number, scale: number) => {
    const precision = Math.min(MOST_DIGITS, Math.max(1, Math.trunc(wanted) || 1))
    onType(`decimal(${precision},${Math.min(precision, Math.max(0, Math.trunc(scale) || 0))})`)
  }
  const size = (label: string, least: number, most: number, value: string, set: (value: number) => void) => (
    <input
      type="number"
      min={least}
      max={most}
      aria-label={label}
      title={label}
      value={value}
      onChange={(event) => set(Number(event.currentTarget.value))}
    />
  )
  return (
    <>
      <select
        class="type-choice"
        aria-label={`Type of ${name}`}
        value={type}
        onChange={(event) => onType(event.currentTarget.value as ColumnType)}
      >
        {CHOICES.toSpliced(3, 0, decimal).map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      {digits !== undefined && behind !== undefined && (
        <span class="decimal-size">
          {size(`Digits of ${name}`, 1, MOST_DIGITS, digits, (wanted) => change(wanted, Number(behind)))}
          {size(`Digits of ${name} after the point`, 0, Number(digits), behind, (scale) =>
            change(Number(digits), scale),
          )}
        </span>
      )}
    </>
  )
}

/** A decimal type for values like these, with the largest number of decimal places among them, and at least two. */
function decimalFor(values: readonly string[]): ColumnType {
  const places = values.map((value) => /^-?\d*\.(\d+)$/.exec(value)?.[1]?.length ?? 0)
  const scale = Math.min(38, Math.max(2, ...places))
  return `decimal(${Math.max(18, Math.min(38, scale + 12))},${scale})`
}
