/** What thrown values say: the code of an error that is not this program's own, and the message of any. */

/** What the system, a library or a server calls an error: ENOENT, ConnectionRefused. A server could put any text there. */
export function getErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : undefined;
}

/** What an error says, whatever was thrown. */
export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
