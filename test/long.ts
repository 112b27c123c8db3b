/** Whether the long forms are wanted: `npm run test:long`. Then tests that inject faults and kills run for hours. */
export const LONG = process.env['PARQUETRY_LONG'] === '1'
