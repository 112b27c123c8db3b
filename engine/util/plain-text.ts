/** Whether a value is text of valid Unicode whose only control characters are tabs and line ends. */
export function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !/[^\P{Cc}\t\n\r]/u.test(value)
}
