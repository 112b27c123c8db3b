import { ParquetryError, type Provider } from '../../../client/index.ts'
import { askForKey } from '../account/saved-keys.tsx'
import { messageOf } from '../api.ts'
import { Empty, Failure } from '../ui/feedback.tsx'

/** Shows an error of a provider, and asks for an API key where that would help. */
export function failureOf(provider: Provider) {
  return (error: unknown, again: () => void) => {
    const code = error instanceof ParquetryError ? error.code : ''
    if (code !== 'key_required' && code !== 'key_rejected') return <Failure error={error} onRetry={again} />
    const { name } = provider
    return (
      <Empty
        icon="key"
        title={code === 'key_required' ? `${name} needs a key` : `${name} does not accept the key`}
        action={{ says: 'Use your own key', to: () => askForKey([provider]) }}
      >
        {code === 'key_required'
          ? 'The provider issues keys, usually free of charge. A key that you save here is used only for you.'
          : messageOf(error)}
      </Empty>
    )
  }
}
