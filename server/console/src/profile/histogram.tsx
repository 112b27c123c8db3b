import type { Column } from '../../../client/index.ts'
import { formatNumber, formatPercent, plural } from '../format.ts'
import { binFilter, valueFilter } from './exact.ts'
import { type Bin, type Shape, toLiteral } from './stats.ts'

/** A histogram. A click on a bar filters by it. */
export function Histogram(props: {
  readonly column: Column
  readonly shape: Shape
  /** Whether the counts come from a sample, so that only their proportions are meaningful. */
  readonly sampled: boolean
  readonly onFilter: (condition: string) => void
}) {
  const { shape, column } = props
  switch (shape.kind) {
    case 'none':
      return <p class="hint">Nothing to draw: no values, or a type without order.</p>
    case 'values':
      return <Values {...props} shape={shape} />
    case 'bins':
      return (
        <div class="histogram">
          {/* biome-ignore lint/a11y/useSemanticElements: a group of buttons, not of form fields */}
          <div
            class="histogram-bars"
            role="group"
            aria-label={`Histogram of ${column.name}; arrow keys go from bar to bar`}
            onKeyDown={moveAmongBars}
          >
            {shape.bins.map((bin, at) => (
              <Bar
                key={bin.from}
                bin={bin}
                first={at === 0}
                highest={Math.max(...shape.bins.map(({ count }) => count), 1)}
                label={`${rangeText(bin, column.type)}: ${countText(bin.count, totalOf(shape), props.sampled)}`}
                onClick={() => props.onFilter(binFilter(column, bin, at === 0, at === shape.bins.length - 1))}
              />
            ))}
          </div>
          <div class="histogram-axis figures">
            <span>{edgeText(shape.bins[0]!.from, column.type)}</span>
            <span>{edgeText(shape.bins.at(-1)!.to, column.type)}</span>
          </div>
        </div>
      )
    default:
      return shape satisfies never
  }
}

function Bar(props: {
  readonly bin: Bin
  /** Whether this bar is the one in the tab order. */
  readonly first: boolean
  readonly highest: number
  readonly label: string
  readonly onClick: () => void
}) {
  const { count } = props.bin
  const text = props.label
  const share = count === 0 ? 0 : Math.max(2, (count / props.highest) * 100)
  return (
    <button
      type="button"
      class="bar"
      tabIndex={props.first ? 0 : -1}
      aria-label={`${text}, filter by this`}
      title={text}
      onClick={props.onClick}
    >
      <span style={{ blockSize: `${share}%` }} />
    </button>
  )
}

function moveAmongBars(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
  const bars = [...(event.currentTarget as HTMLElement).querySelectorAll('button')]
  const next = bars[bars.indexOf(document.activeElement as HTMLButtonElement) + step]
  if (step === 0 || !next) return
  event.preventDefault()
  next.focus()
}

function Values(props: {
  readonly column: Column
  readonly shape: Extract<Shape, { kind: 'values' }>
  readonly sampled: boolean
  readonly onFilter: (condition: string) => void
}) {
  const { shape } = props
  const total = shape.values.reduce((sum, { count }) => sum + count, shape.others)
  const row = (name: string, count: number) => (
    <>
      <span class="value-name">{name === '' ? 'empty text' : name}</span>
      <span class="value-bar" aria-hidden="true">
        <span style={{ inlineSize: `${total === 0 ? 0 : (count / total) * 100}%` }} />
      </span>
      <span class="value-share figures">{formatPercent(total === 0 ? 0 : count / total)}</span>
    </>
  )
  return (
    <ul class="values">
      {shape.values.map(({ value, count }) => (
        <li key={value}>
          <button
            type="button"
            class="value"
            title={`${countText(count, total, props.sampled)}: filter by this`}
            onClick={() => props.onFilter(valueFilter(props.column, value))}
          >
            {row(value, count)}
          </button>
        </li>
      ))}
      {shape.others > 0 && (
        <li>
          <span class="value is-others">{row('all others', shape.others)}</span>
        </li>
      )}
    </ul>
  )
}

function totalOf(shape: Extract<Shape, { kind: 'bins' }>): number {
  return shape.bins.reduce((sum, { count }) => sum + count, 0)
}

function countText(count: number, total: number, sampled: boolean): string {
  return sampled
    ? `about ${formatPercent(total === 0 ? 0 : count / total)} of the rows`
    : plural(count, 'row')
}

function rangeText(bin: Bin, type: string): string {
  return `${edgeText(bin.from, type)} to ${edgeText(bin.to, type)}`
}

function edgeText(value: number, type: string): string {
  const literal = toLiteral(value, type)
  return literal.includes('-') && literal.length >= 10 && !/e/i.test(literal) && /^\d{4}-/.test(literal)
    ? literal.replace('T', ' ').replace(/(?::00)?(?:\.\d+)?Z?$/, '')
    : formatNumber(value)
}
