import { FORMATS, type Format } from '../../engine/index.ts'
import { fromPlain, QUERY, VERSION, WRITING } from '../../engine/options.ts'
import type { Tool } from './tool.ts'
import { argumentsOf, DATASET } from './tool.ts'

const ROWS = { ...QUERY, ...WRITING, ...VERSION }

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
      dataset: DATASET,
      ...argumentsOf(ROWS),
      format: { type: 'string', enum: FORMATS, default: 'csv', description: 'Format of the file.' },
    },
  },
  async run(client, given: { readonly dataset: number; readonly format?: Format }, signal) {
    const { dataset, format = 'csv' } = given
    const options = { ...fromPlain(given, ROWS), signal }
    // If the query is wrong, the agent must get the error now, not the person who opens the link.
    const probe = await client.datasets.download(dataset, format, {
      ...options,
      top: 0,
      skip: undefined,
      last: undefined,
    })
    await probe.cancel()
    const { url, expiresAt } = await client.datasets.link(dataset, format, options)
    return { url: url.href, expiresAt, rows: probe.rowCount }
  },
}
