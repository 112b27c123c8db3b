import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Provider, Series } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatNumber, plural } from '../format.ts'
import { Chart } from '../plot/chart.tsx'
import { updateQuery } from '../router.ts'
import { Empty, Loading } from '../ui/feedback.tsx'
import { Icon } from '../ui/icons.tsx'
import { latest, useResource } from '../use-resource.ts'
import { pointsOf } from './points.ts'
import { ProviderFailure } from './provider-failure.tsx'
import { SaveSeries } from './save-series.tsx'

const SHOWN_VALUES = 12

/** One series: its plot, its latest values, and the form that saves it in a dataset. */
export function SeriesView(props: {
  readonly provider: Provider
  readonly id: string
  /** Whether there is a list of series to go back to. */
  readonly hasList: boolean
  readonly onAsked: () => void
  readonly onKey: () => void
}) {
  const { provider, id } = props
  const [resource, again] = useResource(
    (signal) => api().providers.series(provider.slug, id, { signal }),
    [provider.slug, id],
  )
  useEffect(() => {
    if (resource.state === 'ready') props.onAsked()
  }, [resource.state])
  const series = latest(resource)
  const back = props.hasList && (
    <button type="button" class="link" onClick={() => updateQuery({ series: '' }, true)}>
      Back to the list
    </button>
  )
  if (resource.state === 'failed') {
    return (
      <div class="series-pane">
        {back}
        <ProviderFailure name={provider.name} error={resource.error} onRetry={again} onKey={props.onKey} />
      </div>
    )
  }
  if (!series) return <Loading label="Loading the series" lines={8} />
  return <Shown series={series} provider={provider} back={back} />
}

function Shown(props: {
  readonly series: Series
  readonly provider: Provider
  readonly back: preact.ComponentChildren
}) {
  const { series, provider } = props
  const [saving, setSaving] = useState(false)
  const { points, xType } = useMemo(() => pointsOf(series), [series])
  const facts = [series.frequency, series.unit, plural(series.observations.length, 'observation')].filter(
    Boolean,
  )
  return (
    <div class="series-pane">
      {props.back}
      <div class="section-head">
        <div>
          <h2>{series.name || series.series_id}</h2>
          <p class="hint">
            <code>{series.series_id}</code> {facts.join(' · ')}
          </p>
        </div>
        <button type="button" class="button button-primary" onClick={() => setSaving(true)}>
          <Icon name="table" />
          <span>Save as dataset</span>
        </button>
      </div>
      {points.length === 0 ? (
        <Empty icon="plot" title="No observations">
          The provider has this series, but no values for it.
        </Empty>
      ) : (
        <Chart
          title={series.name || series.series_id}
          points={points}
          xType={xType}
          xLabel={xType === 'date' ? 'date' : 'time'}
          yLabel={series.unit ?? 'value'}
          kind="line"
        />
      )}
      <LatestValues series={series} />
      {saving && <SaveSeries provider={provider} series={series} onClose={() => setSaving(false)} />}
    </div>
  )
}

function LatestValues(props: { readonly series: Series }) {
  const newest = props.series.observations.slice(-SHOWN_VALUES).reverse()
  if (newest.length === 0) return null
  return (
    <table class="plain-table values-table">
      <caption>Latest values</caption>
      <thead>
        <tr>
          <th scope="col">Period</th>
          <th scope="col" class="is-right">
            Value
          </th>
        </tr>
      </thead>
      <tbody>
        {newest.map((observation) => (
          <tr key={observation.period ?? observation.date}>
            <td class="figures">{observation.period ?? observation.date}</td>
            <td class="is-right figures">
              {observation.value === null ? (
                <span class="null">missing</span>
              ) : typeof observation.value === 'number' ? (
                formatNumber(observation.value)
              ) : (
                observation.value
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
