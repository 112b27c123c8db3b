import type { Upload } from '../../../engine/index.ts'
import {
  ADDING,
  CHANGE,
  type OptionsOf,
  type OptionTable,
  pick,
  READING,
  REPLACING,
  toHttp,
} from '../../../engine/options.ts'
import { parameters, parametersOf } from '../../http/query.ts'

/** The parameters of an upload that is read and not stored. */
const PREVIEW = {
  beginning: {
    type: 'boolean',
    description:
      'The body is only the beginning of a file: the last record of csv, tsv and ndjson is left out, because it may ' +
      'be cut off. Only for a preview. Other formats must be sent whole.',
  },
} as const

const DRY_RUN = {
  ...PREVIEW,
  dryRun: {
    type: 'boolean',
    description: 'With true, nothing is stored, and the response is what `POST /preview` gives.',
  },
} as const

/** The parameters of a request that appends rows, which say how its file is to be read. */
export const APPEND_PARAMETERS = parameters({
  ...parametersOf(READING),
  ...parametersOf(ADDING),
  ...parametersOf(CHANGE),
  ...DRY_RUN,
})

/** The parameters of a request that replaces the rows. */
export const REPLACE_PARAMETERS = parameters({
  ...parametersOf(REPLACING),
  ...parametersOf(CHANGE),
  ...DRY_RUN,
})

/** The parameters of a preview without a dataset. */
export const PREVIEW_PARAMETERS = parameters({ ...parametersOf(READING), ...PREVIEW })

/** The options of an upload as the engine takes them. */
export function uploadOptions(
  given: OptionsOf<typeof REPLACING>,
): Pick<Upload, 'options' | 'replaceColumns'> {
  const options = pick(given, READING)
  return {
    ...(Object.keys(options).length > 0 && { options }),
    ...(given.columns === 'replace' && { replaceColumns: true }),
  }
}

/** The options of an upload as they are written in a query string. */
export function optionTexts<Table extends OptionTable>(
  options: OptionsOf<Table>,
  table: Table,
): Record<string, string> {
  const entries = Object.entries(toHttp(options, table))
  return Object.fromEntries(entries.map(([name, value]) => [name, value === '\t' ? 'tab' : String(value)]))
}
