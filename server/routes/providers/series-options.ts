import { AGGREGATES, CONVERSIONS, type SeriesQuery } from '../../../connectors/transform/options.ts'
import type { ParameterSchema } from '../../http/query.ts'

/** The parameters that select a part of a series and transform it; the connectors check them. */
export const SERIES_PARAMETERS = {
  start: { type: 'string', description: 'The first date, as in ISO 8601.', examples: ['2020-01-01'] },
  end: { type: 'string', description: 'The last date, as in ISO 8601.', examples: ['2024-12-31'] },
  transform: {
    type: 'string',
    description:
      '`none`, `change` (from the period before), `percent` (change from the period before in percent), `yoy` ' +
      '(change from a year before in percent), `log`, or `index:2015-01-01` (100 in the period of that date).',
    examples: ['yoy'],
  },
  frequency: {
    type: 'string',
    description: `A lower frequency: ${CONVERSIONS.join(', ')}.`,
    examples: ['annual'],
  },
  aggregate: {
    type: 'string',
    description: `How the values of a longer period become one value: ${AGGREGATES.join(', ')}. Default mean.`,
    examples: ['mean'],
  },
  asOf: {
    type: 'string',
    description: 'The series as it was published on that day, where the provider keeps earlier versions.',
    examples: ['2020-03-01'],
  },
} as const satisfies Readonly<Record<string, ParameterSchema>>

type Given = { readonly [Name in keyof typeof SERIES_PARAMETERS]?: string | undefined }

export function seriesQuery({ start, end, transform, frequency, aggregate, asOf }: Given): SeriesQuery {
  const given = { start, end, transform, frequency, aggregate, asOf }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
