import { useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { describeColumn } from '../dataset/describe.ts'
import type { Exploration } from '../dataset/use-exploration.ts'
import type { ColumnProfile } from '../filter/types.ts'
import { formatCount, formatNumber, plural } from '../format.ts'
import type { CountedDataset } from '../rows.ts'
import { Button } from '../ui/button.tsx'
import { Failure, Note, Progress } from '../ui/feedback.tsx'
import { useSearch } from '../ui/field.tsx'
import { Shape } from './shape.tsx'

/** How many columns are shown at first, and how many more with each click. */
const SHOWN_AT_ONCE = 48

/** All columns, each with its type and what its values are like. */
export function ColumnsView(props: Exploration & { readonly canWrite: boolean }) {
  const { dataset, of, canWrite } = props
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
          <ColumnCard
            key={column.name}
            {...{ dataset, column, canWrite }}
            profile={profiles?.get(column.name)}
          />
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

function ColumnCard(props: {
  readonly dataset: CountedDataset
  readonly column: Column
  readonly profile: ColumnProfile | undefined
  readonly canWrite: boolean
}) {
  const { dataset, column, profile } = props
  const { name, type, unit, title, description, nullable } = column
  return (
    <li class="card column-card">
      <div class="column-title">
        <h2>{name}</h2>
        <span class="type">{[type, unit, !nullable && 'never null'].filter(Boolean).join(', ')}</span>
        {props.canWrite && (
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
