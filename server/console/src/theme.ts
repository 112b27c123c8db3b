import { useEvent, useRound } from './hooks.ts'

/** Light or dark: follows the system until the user chooses one, which is then remembered in this browser. */
type Theme = 'light' | 'dark'

const SLOT = 'parquetry.theme'
const system = matchMedia('(prefers-color-scheme: dark)')
system.addEventListener('change', () => dispatchEvent(new Event('parquetry:theme')))

export function setTheme(theme: Theme): void {
  localStorage.setItem(SLOT, theme)
  restoreTheme()
}

/** Restores the user's choice. Must be called before the first render. */
export function restoreTheme(): void {
  const chosen = localStorage.getItem(SLOT)
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen
  dispatchEvent(new Event('parquetry:theme'))
}

/** The theme that is shown; the component renders again when the user or the system changes it. */
export function useTheme(): Theme {
  const [, again] = useRound()
  useEvent('parquetry:theme', again)
  const chosen = document.documentElement.dataset['theme'] as Theme | undefined
  return chosen ?? (system.matches ? 'dark' : 'light')
}
