/** Light or dark: the system's choice until somebody makes another, which is then kept for this browser. */
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

/** Takes up the choice made before; call it before anything is drawn. */
export function restoreTheme(): void {
  const chosen = localStorage.getItem(SLOT)
  if (chosen === 'light' || chosen === 'dark') apply(chosen)
}

/** Calls back when the theme changes by either way; returns how to stop. */
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
