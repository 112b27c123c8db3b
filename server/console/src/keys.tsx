import { useRef } from 'preact/hooks'
import { useEvent } from './hooks.ts'
import { openDialog } from './ui/dialog.tsx'

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['/', 'search on this page'],
  ['f', 'write a filter'],
  ['?', 'show these keys'],
  ['g h', 'home'],
  ['g u', 'upload a file'],
  ['g s', 'SQL'],
  ['g p', 'providers'],
  ['Esc', 'close what is open'],
  ['← ↑ → ↓', 'move in a table, among tabs, in a menu or a tree'],
  ['Home End', 'first or last column of a table'],
  ['Ctrl Home', 'first row, and with Ctrl End the last'],
  ['Page Up', 'a screen of rows up, and with Page Down one down'],
  ['Enter', 'change the chosen cell'],
  ['Ctrl C', 'copy the chosen cell'],
  ['Ctrl V', 'on the pages for uploads, take the cells copied in a spreadsheet'],
]

const PLACES: Readonly<Record<string, string>> = { h: '#/', u: '#/upload', s: '#/sql', p: '#/providers' }

/** The keys that work everywhere, except while the user types. */
export function useKeys(): void {
  const before = useRef('')
  useEvent('keydown', (event) => {
    const { key } = event
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    const place = before.current === 'g' ? PLACES[key] : undefined
    before.current = key
    const field = key === '/' ? '[type=search]' : key === 'f' ? '.filter-text textarea' : undefined
    const focused = field === undefined ? null : document.querySelector<HTMLElement>(`main ${field}`)
    if (key === '?') showKeys()
    else if (place !== undefined) location.hash = place
    else if (!focused) return
    event.preventDefault()
    focused?.focus()
  })
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.closest('input:not([type=checkbox], [type=radio]), textarea, select, dialog') !== null
}

/** Lists the keys. */
export function showKeys(): void {
  openDialog('Keys', () => (
    <dl class="dialog-body key-table">
      {KEYS.map(([keys, does]) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((one) => (
              <kbd key={one}>{one}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  ))
}
