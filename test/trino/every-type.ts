/** A column of every type, and rows with the ends of what both databases hold; they are not in the order of anything. */
export const COLUMNS = [
  { name: 'n', type: 'integer' },
  { name: 'flag', type: 'boolean' },
  { name: 'd', type: 'double' },
  { name: 'price', type: 'decimal(20,3)' },
  { name: 'word', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 'clock', type: 'time' },
  { name: 'moment', type: 'timestamp' },
  { name: 'instant', type: 'timestamptz' },
  { name: 'id', type: 'uuid' },
  { name: 'j', type: 'json' },
] as const

export const LINES = [
  '9007199254740993,true,1.5,12345678901234567.125,"ä ""x"", \'y\'",2024-02-29,13:14:15.000001,2024-01-02T03:04:05.000006,2024-01-02T03:04:05Z,01234567-89ab-cdef-0123-456789abcdef,[1]',
  '1,,,,,,,,,,',
  '-9223372036854775808,false,-0.25,-0.125,b,1900-01-01,00:00:00,1900-01-01T00:00:00,1969-12-31T23:59:59.999999Z,ffffffff-ffff-ffff-ffff-ffffffffffff,"{""a"":1}"',
  '30,false,1e300,0.001,c,9999-12-31,23:59:59.999999,9999-12-31T23:59:59.999999,0001-01-01T00:00:00Z,00000000-0000-0000-0000-000000000000,null',
  '30,true,NaN,0.001,b,0001-01-01,12:00:00,1969-12-31T23:59:59.999999,2024-01-02T03:04:05.5Z,80000000-0000-0000-0000-000000000000,"""x"""',
  '2,true,inf,7.000,😀é,2024-03-01,12:00:00.5,2024-03-01T00:00:00,2024-03-01T12:00:00Z,7fffffff-0000-0000-0000-000000000000,{}',
  '-1,,-0.0,7.000,,1970-01-01,,1970-01-01T00:00:00,1970-01-01T00:00:00Z,,',
  '0,false,0.0,-7.5,b,1969-12-31,06:00:00,1970-01-01T00:00:00.000001,1970-01-01T00:00:00.000001Z,,{}',
  '5,false,-inf,-12345678901234567.125,B,2000-01-01,,,,,',
]
