import { useMemo } from 'preact/hooks'
import type { Provider, Series } from '../../../client/index.ts'
import { api, messageOf } from '../api.ts'
import { formatNumber, plural } from '../format.ts'
import { Chart } from '../plot/chart.tsx'
import { textOfX } from '../plot/draw.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/feedback.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { announce } from '../ui/toast.tsx'
import { useResource } from '../use-resource.ts'
import { drawSeries } from './points.ts'
import { failureOf } from './provider-failure.tsx'
import { saveSeries } from './save-series.ts'

const SHOWN_VALUES = 12

/** One series: its plot, its latest values, and the form that saves it in a dataset. */
export function SeriesView({ provider, id }: { readonly provider: Provider; readonly id: string }) {
  const resource = useResource(
    (signal) => api().providers.series(provider.slug, id, { signal }),
    [provider.slug, id],
  )
  return (
    <Loaded of={resource} label="Loading the series" lines={8} failed={failureOf(provider)}>
      {(series) => <Shown {...{ series, provider }} />}
    </Loaded>
  )
}

function Shown({ series, provider }: { readonly series: Series; readonly provider: Provider }) {
  const { drawing, xType } = useMemo(() => drawSeries(series), [series])
  const count = plural(series.observations.length, 'observation')
  const name = series.name || series.series_id
  const newest = series.observations.slice(-SHOWN_VALUES).reverse()
  return (
    <>
      <div class="section-head">
        <div>
          <h2>{name}</h2>
          <p class="hint">
            <code>{series.series_id}</code>{' '}
            {[series.frequency, series.unit, count].filter(Boolean).join(' · ')}
          </p>
        </div>
        <Button
          icon="table"
          look="primary"
          onClick={() => saveSeries(provider, series).catch((error) => announce(messageOf(error)))}
        >
          Save as dataset
        </Button>
      </div>
      {drawing.xs.length === 0 ? (
        <Empty icon="plot" title="No observations">
          The provider has this series, but no values for it.
        </Empty>
      ) : (
        <>
          <Chart
            title={name}
            drawing={drawing}
            xType={xType}
            xText={textOfX(xType)}
            xLabel={xType === 'date' ? 'date' : 'time'}
            yLabel={series.unit ?? 'value'}
            kind="line"
          />
          <h3>Latest values</h3>
          <PlainTable
            label="Latest values"
            head={['Period', 'Value']}
            right={(at) => at === 1}
            rows={newest.map(({ period, date, value }) => [
              period ?? date,
              value === null ? (
                <span class="null">missing</span>
              ) : typeof value === 'number' ? (
                formatNumber(value)
              ) : (
                value
              ),
            ])}
          />
        </>
      )}
    </>
  )
}
