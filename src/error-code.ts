/** The codes of errors that are not this program's own. */

/** What the system, a library or a server calls an error: ENOENT, ConnectionRefused. A server could put any text there. */
export function getErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : undefined;
}
