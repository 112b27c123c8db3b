import { FORMATS, type Format } from '../../engine/index.ts'
import type { Writing } from '../client/index.ts'
import { type AskedRows, QUESTION, questionOf } from './question.ts'
import type { Tool } from './tool.ts'

export const exportLink: Tool = {
  name: 'export_link',
  title: 'Link to a whole export',
  description:
    'A URL that downloads all rows of a query as a file, however many there are. It works without a key for five ' +
    'minutes: give it to the user, or fetch it.',
  arguments: {
    type: 'object',
    additionalProperties: false,
    required: ['dataset'],
    properties: {
      ...QUESTION,
      format: { type: 'string', enum: FORMATS, default: 'csv', description: 'Format of the file.' },
      delimiter: {
        type: 'string',
        description: 'csv: the character between fields, for example ; for spreadsheets in Europe.',
      },
      decimal: {
        type: 'string',
        enum: ['.', ','],
        description: 'csv, tsv: the decimal separator; a comma needs another delimiter.',
      },
      bom: { type: 'boolean', description: 'csv, tsv: a byte order mark, by which Excel recognizes UTF-8.' },
      formulas: {
        type: 'string',
        enum: ['escape'],
        description:
          'csv, tsv: keeps spreadsheets from running texts that begin with = + - or @ as formulas.',
      },
      overlong: {
        type: 'string',
        enum: ['cut'],
        description: 'xlsx: cuts texts that are too long for a cell; otherwise they are an error.',
      },
    },
  },
  async run(client, given: AskedRows & Omit<Writing, 'null'> & { format?: Format }, signal) {
    const { dataset, format = 'csv', delimiter, decimal, bom, formulas, overlong } = given
    const asked = { ...questionOf(given), delimiter, decimal, bom, formulas, overlong, signal }
    // If the query is wrong, the agent must get the error now, not the person who opens the link.
    const probe = await client.datasets.download(dataset, format, { ...asked, top: 0 })
    await probe.cancel()
    const { url, expiresAt } = await client.datasets.link(dataset, format, asked)
    return { url: url.href, expiresAt, rows: probe.rowCount }
  },
}
