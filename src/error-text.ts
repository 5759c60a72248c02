/** Codes and messages of thrown values. */

/** The code of an error, such as ENOENT; undefined unless it looks like one, since a server could send any text. */
export function getErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : undefined;
}

/** The message of anything thrown. */
export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
