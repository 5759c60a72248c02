/** What commands write for people: numbers, tables, text from outside, and lines whose failure counts. */
import { getErrorCode, getErrorMessage } from '../../error-text.ts';

/** A count as all commands write it: `1,234`. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** @param what a noun in the singular @param plural if it is not formed with an s */
export const formatQuantity = (count: number, what: string, plural = `${what}s`): string =>
  `${formatCount(count)} ${count === 1 ? what : plural}`;

/**
 * Characters that a terminal obeys instead of showing, or that make one line look like another: control characters
 * (C0, DEL, C1), line and paragraph separators, and those that change the direction of text.
 */
const unprintable = /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** The text on one line, with unprintable characters escaped as in JSON, which need not escape all of these. */
export const escapeUnprintable = (text: string): string =>
  text.replace(unprintable, character => {
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
  });

/** Aligns columns, two spaces apart. Cells are escaped, so that none can affect the terminal or another row. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows.map(row => row.map(escapeUnprintable))];
  // Not Math.max(...lengths): half a million arguments do not fit on the stack.
  const widths = header.map((_, column) =>
    lines.reduce((width, line) => Math.max(width, line[column]?.length ?? 0), 0),
  );
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A time to the minute, in UTC; `-` for null. */
export function formatDate(milliseconds: number | null): string {
  return milliseconds === null ? '-' : new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ');
}

/**
 * Writes what a command has read. It is no failure if the reader of the pipe has read enough, as head does.
 * @throws Error when standard output cannot be written for another reason
 */
export async function printRead(text: string): Promise<void> {
  try {
    await writeLines(process.stdout, [text]);
  } catch (error) {
    if (getErrorCode(error) !== 'EPIPE') throw error;
  }
}

/** Writes what a command has changed. @throws Error that says what was changed, when it cannot be written */
export const printDone = (done: string): Promise<void> =>
  printOrExplain(
    [done],
    reason => `the command succeeded, but its output could not be written (${reason}): ${done}`,
  );

/**
 * Writes lines with a secret that cannot be shown again.
 * @param undo advice for the case that the lines cannot be shown
 * @throws Error with that advice
 */
export const printSecret = (lines: readonly string[], undo: string): Promise<void> =>
  printOrExplain(
    lines,
    reason => `the command succeeded, but the secret could not be shown (${reason}): ${undo}`,
  );

/** @param explain the message of the error when the lines cannot be written, for the reason of the system */
export async function printOrExplain(
  lines: readonly string[],
  explain: (reason: string) => string,
): Promise<void> {
  try {
    await writeLines(process.stdout, lines);
  } catch (error) {
    throw new Error(explain(getErrorMessage(error)), { cause: error });
  }
}

/**
 * Writes lines to standard output or standard error, and reports failures, unlike `console.log`, which ignores them.
 * @throws Error when the stream cannot be written: the disk is full, or the reader has gone
 */
export function writeLines(stream: NodeJS.WriteStream, lines: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onWritten = (error?: Error | null) => (error == null ? resolve() : reject(error));
  // The stream also emits the failure later as an event, which ends the process if there is no listener.
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined);
  stream.write(`${lines.join('\n')}\n`, onWritten);
  return promise;
}
