import { QUERY_DEFINITION } from './datasets.ts'
import { countOrNull, fields, record, text, textOrNull, time, timeOrNull } from './schema.ts'

/** How often the series that a dataset follows are fetched again. */
export const INTERVALS = ['hour', 'day', 'week', 'month', 'release'] as const

/** How the rows of a followed file come to those that are there. */
export const MODES = ['replace', 'append', 'upsert'] as const

const interval = { type: 'string', enum: INTERVALS } as const

const STATE = {
  series: {
    type: 'array',
    items: { ...text, examples: ['fred/GDP'] },
    description: 'Ids with the slug of the provider before them, for example `fred/GDP`.',
  },
  start: { ...textOrNull, description: 'The first date to fetch.' },
  every: {
    type: 'string',
    enum: ['on-change', ...INTERVALS],
    description: '`on-change`: when the tables of a query change. `release`: when series are released.',
    examples: ['day'],
  },
  lastRun: { ...timeOrNull, description: 'When the dataset was last refreshed; null: not yet.' },
  nextRun: {
    ...time,
    description: 'The next refresh: by the schedule, or sooner if a series could not be fetched.',
  },
  lastError: {
    ...textOrNull,
    description:
      'What went wrong in the last run; null: nothing. For a query, which may fail by values of other tables, only the ' +
      'account that set it sees what.',
  },
  hints: {
    type: 'array',
    items: text,
    description: 'The options in `lastError`, as it has them.',
    examples: [['columns=replace']],
  },
  missing: {
    type: 'array',
    description:
      'Series that could not be fetched in the last run, or came back with none or fewer than half of their values; ' +
      'their earlier rows are kept.',
    examples: [[]],
    items: fields('A series that could not be fetched.', { series: text, code: text, error: text }),
  },
  lastVersion: { ...countOrNull, description: 'The last version that a refresh created.' },
} as const

const FILE = {
  url: { ...text, description: 'The address of a file that is followed instead of series.' },
  mode: {
    type: 'string',
    enum: MODES,
    description: 'How its rows come to those that are there. Default replace.',
  },
  options: {
    type: 'object',
    additionalProperties: text,
    description: 'The options of an upload with which it is read, as in a query string.',
    examples: [{ delimiter: ';', decimal: ',' }],
  },
} as const

export const SOURCE = record(
  'Source',
  'The series or the file that a dataset follows, and the state of the last refresh.',
  STATE,
  {
    ...FILE,
    files: { ...text, description: 'The files that an operator has attached, which stay where they are.' },
    query: QUERY_DEFINITION,
    refresh: {
      description:
        'How the last refresh of a query that changed something was made: `difference` if only rows that had been appended to its table were read.',
      oneOf: [
        fields('A refresh.', {
          by: { type: 'string', enum: ['difference', 'whole'] },
          because: { ...textOrNull, description: 'Why all rows were read; null for `difference`.' },
        }),
        { type: 'null' },
      ],
    },
    nextRelease: {
      description:
        'With `every: release`: the first release that series wait for. null if none is announced; they are then ' +
        'refreshed daily.',
      oneOf: [
        fields('A release.', {
          name: text,
          date: text,
          time: timeOrNull,
          series: { type: 'array', items: text },
        }),
        { type: 'null' },
      ],
    },
  },
)

export const NEW_SOURCE = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: {
    series: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', maxLength: 2_100, documented: { pattern: '^[^/]+/.*[^ ]' } },
      description: 'Ids, each with its provider in front; an id with wildcards stands for several series.',
      examples: [['fred/GDP']],
    },
    start: {
      ...textOrNull,
      description: 'The first date to fetch, as in ISO 8601.',
      documented: { format: 'date' },
    },
    every: {
      ...interval,
      description:
        'How often to refresh. Default day. `release`: after the releases that the providers announce, for series of ' +
        'providers whose calendars say which series a release changes. Each series is read 15 minutes, 1, 3, 8 and 24 ' +
        'hours after the announced time, until it has changed, and at least once a week.',
    },
    confirm: {
      type: 'boolean',
      description:
        'Whether the refresh that this request starts may leave no rows, or fewer than half of those that there are. ' +
        'Default false: the rows then stay, and `lastError` says so.',
    },
    ...FILE,
    options: {
      ...FILE.options,
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      description:
        'The options of an upload with which it is read. For csv and workbooks, those that are not given are chosen by the first ' +
        'file, unless `dialect` is `standard`; later files are read with the same ones, unless it is `auto`.',
    },
  },
} as const
