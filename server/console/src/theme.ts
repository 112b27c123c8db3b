import { useEvent, useRound } from './hooks.ts'

/** Light or dark: follows the system until the user chooses one, which is then remembered in this browser. */
type Theme = 'light' | 'dark'

const SLOT = 'parquetry.theme'
const isTheme = (text: string | null | undefined): text is Theme => text === 'light' || text === 'dark'
const system = matchMedia('(prefers-color-scheme: dark)')
system.addEventListener('change', () => dispatchEvent(new Event('parquetry:theme')))

export function setTheme(theme: Theme): void {
  localStorage.setItem(SLOT, theme)
  restoreTheme()
}

/** Restores the user's choice. Must be called before the first render. */
export function restoreTheme(): void {
  const chosen = localStorage.getItem(SLOT)
  if (isTheme(chosen)) document.documentElement.dataset['theme'] = chosen
  dispatchEvent(new Event('parquetry:theme'))
}

/** The theme that is shown; the component renders again when the user or the system changes it. */
export function useTheme(): Theme {
  const [, again] = useRound()
  useEvent('parquetry:theme', again)
  const chosen = document.documentElement.dataset['theme']
  return isTheme(chosen) ? chosen : system.matches ? 'dark' : 'light'
}
