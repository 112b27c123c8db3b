import type { Column } from '../../../client/index.ts'
import { type ColumnProfile, comparison } from '../filter/types.ts'
import { formatNumber, formatPercent, plural } from '../format.ts'
import { moveFocus } from '../ui/menu.tsx'
import { addCondition } from '../view/view.ts'

interface ShapeProps {
  readonly column: Column
  readonly profile: ColumnProfile
  readonly rowCount: number
}

/** A histogram, or the most frequent values. A click on either filters by it. */
export function Shape(props: ShapeProps) {
  const { histogram, top, distinct } = props.profile
  if (histogram) return <Bars {...props} bins={histogram} />
  if (top && top.length > 0) return <Shares {...props} top={top} />
  return (
    <p class="hint">
      {distinct && distinct.value > 0
        ? 'Too many different values to name the usual ones.'
        : 'Nothing to draw: no values, or a type without order.'}
    </p>
  )
}

type Bins = NonNullable<ColumnProfile['histogram']>

function Bars({ column, profile, bins }: ShapeProps & { readonly bins: Bins }) {
  const { name } = column
  const highest = Math.max(...bins.map(({ count }) => count), 1)
  return (
    <div>
      {/* biome-ignore lint/a11y/useSemanticElements: a group of buttons, not of form fields */}
      <div
        class="histogram-bars"
        role="group"
        aria-label={`Histogram of ${name}; arrow keys go from bar to bar`}
        onKeyDown={(event) => moveFocus(event, 'button', 'ArrowLeft', 'ArrowRight')}
      >
        {bins.map(({ from, to, count }, at) => {
          const text = `${boundText(from)} to ${boundText(to)}: ${plural(count, 'row')}`
          const end = at === bins.length - 1 ? 'le' : 'lt'
          return (
            <button
              key={from}
              type="button"
              class="bar"
              tabIndex={at === 0 ? 0 : -1}
              aria-label={`${text}, filter by this`}
              title={text}
              onClick={() =>
                addCondition(`${comparison(column, 'ge', from)} and ${comparison(column, end, to)}`)
              }
            >
              <span style={{ blockSize: `${count === 0 ? 0 : Math.max(2, (count / highest) * 100)}%` }} />
            </button>
          )
        })}
      </div>
      <div class="histogram-axis figures">
        <span>{boundText(profile.min)}</span>
        <span>{boundText(profile.max)}</span>
      </div>
    </div>
  )
}

type Top = NonNullable<ColumnProfile['top']>

function Shares({ column, profile, rowCount, top }: ShapeProps & { readonly top: Top }) {
  const total = rowCount - profile.nulls
  const others = top.reduce((rest, { count }) => rest - count, total)
  const share = (name: string, count: number) => (
    <>
      <span class="value-name">{name === '' ? 'empty text' : name}</span>
      <span class="value-bar" aria-hidden="true">
        <span style={{ inlineSize: `${(count / total) * 100}%` }} />
      </span>
      <span class="value-share figures">{formatPercent(count / total)}</span>
    </>
  )
  return (
    <ul>
      {top.map(({ value, count }) => (
        <li key={value}>
          <button
            type="button"
            class="value"
            title={`${plural(count, 'row')}: filter by this`}
            onClick={() => addCondition(comparison(column, 'eq', value))}
          >
            {share(String(value), count)}
          </button>
        </li>
      ))}
      {others > 0 && (
        <li>
          <span class="value is-others">{share('all others', others)}</span>
        </li>
      )}
    </ul>
  )
}

function boundText(bound: unknown): string {
  return typeof bound === 'number'
    ? formatNumber(bound)
    : String(bound)
        .replace('T', ' ')
        .replace(/(?::00)?(?:\.\d+)?Z?$/, '')
}

/** A tiny chart of a column, in its heading. Decorative. */
export function Spark({ profile }: { readonly profile: ColumnProfile | undefined }) {
  const { histogram, top = [] } = profile ?? {}
  if (!histogram) {
    return (
      <span class="spark spark-shares" aria-hidden="true">
        {top.map(({ value, count }) => (
          <i key={value} style={{ flexGrow: count }} />
        ))}
      </span>
    )
  }
  const highest = Math.max(...histogram.map(({ count }) => count), 1)
  return (
    <span class="spark spark-bins" aria-hidden="true">
      {histogram.map(({ from, count }) => (
        <i key={from} style={{ blockSize: `${count === 0 ? 0 : Math.max(6, (count / highest) * 100)}%` }} />
      ))}
    </span>
  )
}
