import { fromHttp, READING } from '../../../../engine/options.ts'
import type { Preview, UploadOptions } from '../../../client/index.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/feedback.tsx'

/** Why columns are text although they may be meant as something else, each with a button that reads them so. */
export function Reasons(props: {
  readonly preview: Preview
  readonly options: UploadOptions
  readonly onOptions: (options: UploadOptions) => void
}) {
  const meant = props.preview.columns.flatMap(({ name, because }) =>
    because && (because.try ?? because.above) !== undefined ? [{ name, ...because }] : [],
  )
  return (
    <>
      {meant.map(({ name, row, value, above, try: wanted }) => (
        <Note key={name}>
          “{name}” is text, because row {row} has “{value}”.{' '}
          {above !== undefined && `The values above it are of type ${above}. `}
          {wanted !== undefined && (
            <Button
              look="small"
              to={() => props.onOptions(joined(props.options, wanted))}
              says={`Read it with ${decodeURIComponent(wanted).replaceAll('&', ', ')}`}
            />
          )}
        </Note>
      ))}
    </>
  )
}

/** Options with those of a query string added. */
function joined(options: UploadOptions, query: string): UploadOptions {
  const more = fromHttp(Object.fromEntries(new URLSearchParams(query)), READING)
  return { ...options, ...more, ...(more.nulls && { nulls: [...(options.nulls ?? []), ...more.nulls] }) }
}
