import { useEffect, useRef, useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { isAbort, messageOf } from '../api.ts'
import { formatCount, formatPercent } from '../format.ts'
import { type ExactStats, exactShape, exactStats } from './exact.ts'
import { Histogram } from './histogram.tsx'
import type { ColumnStats, Shape } from './stats.ts'

/** One column. Shows figures from the sample, and replaces them with exact ones when these arrive. */
export function ColumnCard(props: {
  readonly dataset: Dataset
  readonly filter: string
  readonly stats: ColumnStats
  /** Whether the sample contains all rows, so that its figures are exact. */
  readonly whole: boolean
  readonly askAtOnce: boolean
  readonly onFilter: (condition: string) => void
}) {
  const { stats, whole, filter, dataset } = props
  const { column } = stats
  const [exact, setExact] = useState<ExactStats>()
  const [shape, setShape] = useState<Shape>()
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const controller = useRef<AbortController | undefined>(undefined)

  const ask = async (withShape: boolean) => {
    controller.current ??= new AbortController()
    const { signal } = controller.current
    setBusy(true)
    setError(undefined)
    try {
      setExact(await exactStats(dataset.id, filter, stats, signal))
      if (withShape) setShape(await exactShape(dataset.id, filter, stats, signal))
    } catch (failure) {
      if (!isAbort(failure)) setError(messageOf(failure))
    } finally {
      if (!signal.aborted) setBusy(false)
    }
  }
  useEffect(() => {
    if (!whole && props.askAtOnce) ask(false)
    return () => {
      controller.current?.abort()
      controller.current = undefined
    }
  }, [stats])

  const nulls = whole ? stats.nulls : exact?.nulls
  const sampledNulls = formatPercent(stats.rows === 0 ? 0 : stats.nulls / stats.rows)
  const distinct = whole ? stats.distinct : exact?.distinct
  return (
    <li class="card column-card">
      <div class="column-title">
        <h2>{column.name}</h2>
        <span class="type">
          {column.type}
          {column.nullable ? '' : ', never null'}
        </span>
      </div>
      {column.description && <p class="hint">{column.description}</p>}
      <Histogram
        column={column}
        shape={shape ?? stats.shape}
        sampled={!whole && !shape}
        onFilter={props.onFilter}
      />
      <dl class="figures-list">
        <Figure
          name="nulls"
          value={nulls === undefined ? sampledNulls : formatCount(nulls)}
          sampled={nulls === undefined}
        />
        <Figure
          name="distinct"
          value={distinct === undefined ? `${formatCount(stats.distinct)}+` : formatCount(distinct)}
          sampled={distinct === undefined}
        />
        {stats.min !== undefined && (
          <Figure name="min" value={exact?.min ?? stats.min} sampled={!whole && exact === undefined} />
        )}
        {stats.max !== undefined && (
          <Figure name="max" value={exact?.max ?? stats.max} sampled={!whole && exact === undefined} />
        )}
      </dl>
      {error && <p class="field-error">{error}</p>}
      {!whole && !shape && stats.shape.kind !== 'none' && (
        <button type="button" class="button button-small" disabled={busy} onClick={() => ask(true)}>
          {busy ? 'Counting…' : 'Count the bars exactly'}
        </button>
      )}
      {shape && <p class="hint">Bars are counted over all rows.</p>}
    </li>
  )
}

function Figure(props: { readonly name: string; readonly value: string; readonly sampled: boolean }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd class={props.sampled ? 'figures is-sampled' : 'figures'} title={props.value}>
        {props.value === '' ? 'empty text' : props.value}
        {props.sampled && <span class="sampled"> in the sample</span>}
      </dd>
    </div>
  )
}
