import { ParquetryError } from '../../../client/index.ts'
import { messageOf } from '../api.ts'
import { Empty, Failure } from '../ui/feedback.tsx'

/** Shows an error of a provider and, if an API key would help, a link to save one. */
export function ProviderFailure(props: {
  readonly name: string
  readonly error: unknown
  readonly onRetry: () => void
  readonly onKey: () => void
}) {
  const { error } = props
  const code = error instanceof ParquetryError ? error.code : ''
  if (code !== 'key_required' && code !== 'key_rejected') {
    return <Failure error={error} onRetry={props.onRetry} />
  }
  return (
    <Empty
      icon="key"
      title={code === 'key_required' ? `${props.name} needs a key` : `${props.name} does not accept the key`}
      action={
        <button type="button" class="button button-primary" onClick={props.onKey}>
          Use your own key
        </button>
      }
    >
      {code === 'key_required'
        ? 'The provider issues keys, usually free of charge. A key that you save here is used only for you.'
        : messageOf(error)}
    </Empty>
  )
}
