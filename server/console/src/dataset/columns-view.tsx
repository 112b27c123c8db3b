import { useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { type ColumnProfile, comparison } from '../filter/syntax.ts'
import { formatCount, formatNumber, formatPercent, plural } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { Failure, Note, Progress } from '../ui/feedback.tsx'
import { useSearch } from '../ui/field.tsx'
import { moveFocus } from '../ui/menu.tsx'
import { addCondition } from '../view/view.ts'
import { describeColumn } from './actions.tsx'
import type { Exploration } from './exploration.ts'

/** How many columns are shown at first, and how many more with each click. */
const SHOWN_AT_ONCE = 48

/** All columns, each with its type and what its values are like. */
export function ColumnsView(props: Exploration) {
  const { dataset, of } = props
  const { loading, value: profiles, error, again } = props.profile
  const { box, search, found } = useSearch('Find a column', dataset.columns, ({ name }) => name)
  const [most, setMost] = useState(SHOWN_AT_ONCE)
  return (
    <div class="columns-view">
      <div class="columns-head">
        {error !== undefined ? (
          <Failure error={error} onRetry={again} />
        ) : (
          <Note>
            {profiles ? 'Counted over all ' : 'The server is counting all '}
            {plural(dataset.rowCount, 'row')}
            {(of.filter !== '' || of.search !== '') && ', whatever the filter'}.
          </Note>
        )}
        {dataset.columns.length > 8 && box}
      </div>
      {loading && !profiles && <Progress label="Counting all rows" share={undefined} />}
      {found.length === 0 && <p class="hint">No column has “{search}” in its name.</p>}
      <ul class="cards">
        {found.slice(0, most).map((column) => (
          <ColumnCard key={column.name} {...props} column={column} />
        ))}
      </ul>
      {found.length > most && (
        <Button
          look="more"
          to={() => setMost(most + SHOWN_AT_ONCE)}
          says={`Show more of the ${plural(found.length, 'column')}`}
        />
      )}
    </div>
  )
}

function ColumnCard({ dataset, column, profiles, canWrite }: Exploration & { readonly column: Column }) {
  const profile = profiles?.get(column.name)
  const { name, type, unit, title, description, nullable } = column
  return (
    <li class="card column-card">
      <div class="column-title">
        <h2>{name}</h2>
        <span class="type">{[type, unit, !nullable && 'never null'].filter(Boolean).join(', ')}</span>
        {canWrite && (
          <Button
            look="quiet"
            icon="edit"
            label={`Describe ${name}`}
            to={() => describeColumn(dataset.id, column)}
          />
        )}
      </div>
      {(title || description) && <p class="hint">{[title, description].filter(Boolean).join(': ')}</p>}
      {profile && (
        <>
          <Shape {...{ column, profile }} rowCount={dataset.rowCount} />
          <dl class="figures-list">
            {figuresOf(profile).map(([label, value]) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd class="figures" title={value}>
                  {value === '' ? 'empty text' : value}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </li>
  )
}

function figuresOf({ nulls, distinct, min, max, mean, quantiles }: ColumnProfile) {
  const median = quantiles?.['0.5']
  const figures: readonly (readonly [name: string, value: string | undefined])[] = [
    ['nulls', formatCount(nulls)],
    ['distinct', distinct && `${distinct.exact ? '' : 'about '}${formatCount(distinct.value)}`],
    ['min', min === undefined ? undefined : String(min)],
    ['median', median === undefined ? undefined : `about ${formatNumber(median)}`],
    ['mean', mean === undefined ? undefined : formatNumber(mean)],
    ['max', max === undefined ? undefined : String(max)],
  ]
  return figures.filter((figure) => figure[1] !== undefined)
}

interface ShapeProps {
  readonly column: Column
  readonly profile: ColumnProfile
  readonly rowCount: number
}

/** A histogram, or the most frequent values. A click on either filters by it. */
function Shape(props: ShapeProps) {
  const { histogram, top = [], distinct } = props.profile
  if (histogram) return <Bars {...props} />
  if (top.length > 0) return <Shares {...props} />
  return (
    <p class="hint">
      {distinct && distinct.value > 0
        ? 'Too many different values to name the usual ones.'
        : 'Nothing to draw: no values, or a type without order.'}
    </p>
  )
}

function Bars({ column, profile: { histogram: bins = [], min, max } }: ShapeProps) {
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
        <span>{boundText(min)}</span>
        <span>{boundText(max)}</span>
      </div>
    </div>
  )
}

function Shares({ column, profile: { nulls, top = [] }, rowCount }: ShapeProps) {
  const total = rowCount - nulls
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
