import { FORMATS, type Format } from '../../engine/index.ts'
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
    },
  },
  async run(client, given: AskedRows & { format?: Format }, signal) {
    const { dataset, format = 'csv' } = given
    // A wrong question is told now, not to the person who follows the link.
    const probe = await client.datasets.download(dataset, 'csv', { ...questionOf(given), top: 0, signal })
    await probe.cancel()
    const { url, expiresAt } = await client.datasets.link(dataset, format, { ...questionOf(given), signal })
    return { url: url.href, expiresAt, rows: probe.rowCount }
  },
}
