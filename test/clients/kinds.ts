/** Columns of every type, each with a value that a client filters by. The second row is empty, the third has others. */
const KINDS: readonly {
  readonly name: string
  readonly type: string
  /** The first row's value, and the third's, in csv. */
  readonly values: readonly [string, string]
  /** The first value in a `$filter`, where the type can be compared with more than null. */
  readonly literal?: string
  /** The first value as OData shows it. */
  readonly shown: string
}[] = [
  { name: 'v_boolean', type: 'boolean', values: ['true', 'false'], literal: 'true', shown: 'true' },
  { name: 'v_integer', type: 'integer', values: ['42', '-1'], literal: '42', shown: '42' },
  { name: 'v_double', type: 'double', values: ['0.25', '1e300'], literal: '0.25', shown: '0.25' },
  { name: 'v_decimal', type: 'decimal(12,2)', values: ['12.34', '-0.01'], literal: '12.34', shown: '12.34' },
  { name: 'v_string', type: 'string', values: ["it's é", 'other'], literal: "'it''s é'", shown: "it's é" },
  {
    name: 'v_date',
    type: 'date',
    values: ['2024-02-29', '1999-12-31'],
    literal: '2024-02-29',
    shown: '2024-02-29',
  },
  { name: 'v_time', type: 'time', values: ['10:20:30', '00:00:00'], literal: '10:20:30', shown: '10:20:30' },
  {
    name: 'v_timestamp',
    type: 'timestamp',
    values: ['2024-02-29T10:20:30', '1999-12-31T00:00:00'],
    literal: '2024-02-29T10:20:30Z',
    shown: '2024-02-29T10:20:30Z',
  },
  {
    name: 'v_timestamptz',
    type: 'timestamptz',
    values: ['2024-02-29T11:20:30+01:00', '1999-12-31T00:00:00Z'],
    literal: '2024-02-29T10:20:30Z',
    shown: '2024-02-29T10:20:30Z',
  },
  {
    name: 'v_uuid',
    type: 'uuid',
    values: ['550e8400-e29b-41d4-a716-446655440000', '00000000-0000-0000-0000-000000000000'],
    literal: '550e8400-e29b-41d4-a716-446655440000',
    shown: '550e8400-e29b-41d4-a716-446655440000',
  },
  {
    name: 'v_binary',
    type: 'binary',
    values: ['aGVsbG8=', 'AAEC/w=='],
    shown: 'aGVsbG8=',
  },
  { name: 'v_json', type: 'json', values: ['{"a":1}', '[2]'], shown: '{"a":1}' },
]

export const KINDS_COLUMNS = KINDS.map(({ name, type }) => ({ name, type }))

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
const line = (cells: readonly string[]) => `${cells.map(quoted).join()}\n`

export const KINDS_CSV =
  line(KINDS.map(({ name }) => name)) +
  line(KINDS.map(({ values }) => values[0])) +
  `${KINDS.map(() => '').join()}\n` +
  line(KINDS.map(({ values }) => values[1]))

/** For the programs: each column with the filter for its first value, separated by tabs, one in a line. */
export const KINDS_FILTERS = KINDS.map(
  ({ name, literal }) => `${name}\t${name} ${literal ? `eq ${literal}` : 'ne null and Row eq 1'}`,
).join('\n')

/** What each client prints of each type: the row that its filter finds with its value, and the row without one. */
export const KINDS_FOUND = KINDS.map(({ name, shown }) => `${name} in row 1 is ${shown}, null in row 2`)
