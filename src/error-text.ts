/** Codes and messages of thrown values. */

/**
 * The error code of the system, a library or a server, such as ENOENT. A server could send any text: others are
 * ignored.
 */
export function getErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : undefined;
}

/** The message of anything thrown. */
export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
