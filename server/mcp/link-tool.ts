import { FORMATS, type Format } from '../../engine/index.ts'
import type { Writing } from '../client/index.ts'
import { type AskedRows, QUESTION, questionOf } from './question.ts'
import type { Tool } from './tool.ts'

export const exportLink: Tool = {
  name: 'export_link',
  title: 'Link to a whole export',
  description:
    'An address that downloads all rows of a question as a file, however many. It opens without a key for five minutes: ' +
    'give it to the person, or fetch it.',
  arguments: {
    type: 'object',
    additionalProperties: false,
    required: ['dataset'],
    properties: {
      ...QUESTION,
      format: { type: 'string', enum: FORMATS, default: 'csv', description: 'Format of the file.' },
      delimiter: {
        type: 'string',
        description: 'csv: what stands between fields, as ; for offices that expect it.',
      },
      decimal: {
        type: 'string',
        enum: ['.', ','],
        description: 'csv, tsv: what stands before the places of a number; a comma needs another delimiter.',
      },
      bom: { type: 'boolean', description: 'csv, tsv: a byte order mark, by which Excel knows UTF-8.' },
      formulas: {
        type: 'string',
        enum: ['escape'],
        description: 'csv, tsv: keeps spreadsheets from calculating texts that begin with = + - or @.',
      },
      overlong: {
        type: 'string',
        enum: ['cut'],
        description: 'xlsx: shortens texts that a cell cannot hold; otherwise they are refused.',
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
