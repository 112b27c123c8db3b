import { AGGREGATES, CONVERSIONS, type SeriesQuery } from '../../../connectors/index.ts'
import type { ParameterSchema } from '../../http/query.ts'

/** The parameters that select a part of a series and transform it; the connectors check them. */
export const SERIES_PARAMETERS = {
  start: { type: 'string', description: 'First date, ISO.', examples: ['2020-01-01'] },
  end: { type: 'string', description: 'Last date, ISO.', examples: ['2024-12-31'] },
  transform: {
    type: 'string',
    description:
      '`none`, `change` (from the period before), `percent` (the same in percent), `yoy` (in percent from a year ago), ' +
      '`log`, or `index:2015-01-01` (100 in the period of that date).',
    examples: ['yoy'],
  },
  frequency: {
    type: 'string',
    description: `A lower frequency: ${CONVERSIONS.join(', ')}.`,
    examples: ['annual'],
  },
  aggregate: {
    type: 'string',
    description: `How values are put together to that frequency: ${AGGREGATES.join(', ')}. Default mean.`,
    examples: ['mean'],
  },
  asOf: {
    type: 'string',
    description: 'The series as it was published on that day, where the provider keeps that.',
    examples: ['2020-03-01'],
  },
} as const satisfies Readonly<Record<string, ParameterSchema>>

type Given = { readonly [Name in keyof typeof SERIES_PARAMETERS]?: string | undefined }

export function seriesQuery({ start, end, transform, frequency, aggregate, asOf }: Given): SeriesQuery {
  const given = { start, end, transform, frequency, aggregate, asOf }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
