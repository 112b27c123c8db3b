/**
 * The options of a request for a series: which of its dates, and how it is changed. The parameters of HTTP, the client
 * and the tools for agents are made from these rows. This file imports nothing, so that browsers can load it.
 */
export const SERIES_OPTIONS = {
  start: {
    http: 'start',
    kind: 'text',
    about: 'The first date, as in ISO 8601.',
    example: '2020-01-01',
  },
  end: {
    http: 'end',
    kind: 'text',
    about: 'The last date, as in ISO 8601.',
    example: '2024-12-31',
  },
  transform: {
    http: 'transform',
    kind: 'text',
    about:
      '`none`, `change` (from the period before), `percent` (change from the period before in percent), `yoy` ' +
      '(change from a year before in percent), `log`, or `index:2015-01-01` (100 in the period of that date).',
    example: 'yoy',
  },
  frequency: {
    http: 'frequency',
    kind: 'text',
    about: 'A lower frequency: monthly, quarterly, annual.',
    example: 'annual',
  },
  aggregate: {
    http: 'aggregate',
    kind: 'text',
    about: 'How the values of a longer period become one value: mean, sum, end. Default mean.',
    example: 'mean',
  },
  asOf: {
    http: 'asOf',
    kind: 'text',
    about: 'The series as it was published on that day, where the provider keeps earlier versions.',
    example: '2020-03-01',
  },
} as const

/** The options of a request for one series alone. */
export const ONE_SERIES = {
  ...SERIES_OPTIONS,
  vintages: {
    http: 'vintages',
    kind: 'text',
    about:
      'What was known when, where the provider keeps it: `all` values that each period had, the `first` of each, or ' +
      'those of the newest vintages (`latest:5`). Observations then have `known_from` and `known_to`.',
    example: 'first',
  },
} as const
