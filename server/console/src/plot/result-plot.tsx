import type { Dataset } from '../../../client/index.ts'
import { plural } from '../format.ts'
import { pipelineOf } from '../group/result.ts'
import { updateQuery } from '../router.ts'
import { fetchRows } from '../rows.ts'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { latest, useResource } from '../use-resource.ts'
import type { View } from '../view/view.ts'
import { Chart } from './chart.tsx'
import { KINDS, yColumns } from './choice.ts'
import { Numbers } from './numbers.tsx'
import { drawResult, MOST_RESULT_ROWS, readResultChoice, TOGETHER } from './result-choice.ts'

/** Plots the result of `$apply` as bars, a line or points, one for each row. */
export function ResultPlot(props: {
  readonly dataset: Dataset
  readonly view: View
  readonly query: Readonly<Record<string, string>>
}) {
  const { dataset, view, query } = props
  const { filter, apply, order, columns } = view
  const [resource, again] = useResource(
    (signal) =>
      fetchRows(dataset.id, {
        apply: pipelineOf(filter, apply),
        orderBy: order && [order],
        top: MOST_RESULT_ROWS,
        signal,
      }),
    [dataset.id, dataset.version, view],
  )
  const answer = latest(resource)
  if (resource.state === 'failed') return <Failure error={resource.error} onRetry={again} />
  if (!answer || resource.state === 'loading') return <Loading label="Loading the result" lines={8} />
  const choice = readResultChoice(query, columns, answer.rows)
  if (!choice) {
    return (
      <Empty icon="plot" title="Nothing to plot">
        The result has no column of numbers. Calculate something, as the number of rows.
      </Empty>
    )
  }
  const drawing = drawResult(choice, columns, answer.rows)
  const xLabel = choice.x.map(({ name }) => name).join(' · ')
  const { name: yLabel } = choice.y
  const shown =
    drawing.points.length < answer.rowCount
      ? `The first ${plural(drawing.points.length, 'row')} of the ${answer.rowCount} in the result, in the order of the table.`
      : `All ${plural(answer.rowCount, 'row')} of the result.`
  return (
    <div class="plot-view">
      <div class="plot-controls">
        <Select
          label="x axis"
          value={choice.x.length > 1 ? TOGETHER : String(columns.indexOf(choice.x[0]!))}
          options={[
            ...columns.map(({ name }, at) => ({ value: String(at), label: name })),
            ...(choice.together.length > 1
              ? [{ value: TOGETHER, label: choice.together.map(({ name }) => name).join(' · ') }]
              : []),
          ]}
          onValue={(at) => updateQuery({ x: at === TOGETHER ? at : columns[Number(at)]!.name, kind: '' })}
        />
        <Select
          label="y axis"
          value={String(columns.indexOf(choice.y))}
          options={yColumns(columns).map((column) => ({
            value: String(columns.indexOf(column)),
            label: column.name,
          }))}
          onValue={(at) => updateQuery({ y: columns[Number(at)]!.name })}
        />
        <Select
          label="Chart type"
          value={choice.kind}
          options={KINDS.map((value) => ({ value, label: value === 'bar' ? 'bars' : value }))}
          onValue={(kind) => updateQuery({ kind })}
        />
      </div>
      {drawing.points.length === 0 ? (
        <Empty icon="plot" title="No points">
          No row of the result has a value in both columns.
        </Empty>
      ) : (
        <>
          <Chart
            title={`${dataset.name}: ${yLabel} by ${xLabel}`}
            points={drawing.points}
            labels={drawing.labels}
            xType={drawing.labels ? 'string' : choice.x[0]!.type}
            xLabel={xLabel}
            yLabel={yLabel}
            kind={choice.kind}
          />
          <p class="hint" data-testid="plot-source">
            {shown}
          </p>
          <Numbers
            drawing={drawing}
            xLabel={xLabel}
            xType={drawing.labels ? 'string' : choice.x[0]!.type}
            yLabel={yLabel}
          />
        </>
      )}
    </div>
  )
}
