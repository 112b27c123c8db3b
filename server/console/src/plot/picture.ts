import type uPlot from 'uplot'
import type { Paint } from './options.ts'

const MARGIN = 20
const TITLE = 34

/** Draws the chart as a PNG with its title, on the background colour of the page. */
export function pictureOf(plot: uPlot, title: string, paint: Paint): Promise<Blob> {
  const source = plot.ctx.canvas
  const ratio = devicePixelRatio
  const canvas = document.createElement('canvas')
  canvas.width = source.width + 2 * MARGIN * ratio
  canvas.height = source.height + (2 * MARGIN + TITLE) * ratio
  const context = canvas.getContext('2d')!
  context.fillStyle = paint.surface
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = paint.ink
  context.font = `600 ${15 * ratio}px ${paint.font.replace(/^\S+ /, '')}`
  context.fillText(title, MARGIN * ratio, (MARGIN + 14) * ratio, canvas.width - 2 * MARGIN * ratio)
  context.drawImage(source, MARGIN * ratio, (MARGIN + TITLE) * ratio)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture could not be made.'))))
  })
}

/** Saves a file from memory as a browser download. */
export function saveBlob(blob: Blob, fileName: string): void {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = fileName
  link.click()
  // The browser reads the URL after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
