/** Light or dark: follows the system until the user chooses one, which is then remembered in this browser. */
export type Theme = 'light' | 'dark'

const SLOT = 'parquetry.theme'

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(SLOT, theme)
  apply(theme)
}

/** Restores the user's choice. Must be called before the first render. */
export function restoreTheme(): void {
  const chosen = localStorage.getItem(SLOT)
  if (chosen === 'light' || chosen === 'dark') apply(chosen)
}

/** Calls the listener when the theme changes, by the user or by the system. Returns a function that unsubscribes. */
export function onTheme(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const chosen = new MutationObserver(listener)
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  system.addEventListener('change', listener)
  return () => {
    chosen.disconnect()
    system.removeEventListener('change', listener)
  }
}

function apply(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
}
