/** Moves the focus to the element before or after, among those inside that match, and round at the ends. */
export function moveFocus(event: KeyboardEvent, selector: string, before: string, after: string): void {
  const step = event.key === after ? 1 : event.key === before ? -1 : 0
  if (step === 0) return
  event.preventDefault()
  const stops = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(selector)]
  const at = stops.indexOf(document.activeElement as HTMLElement)
  stops[(at + step + stops.length) % stops.length]?.focus()
}
