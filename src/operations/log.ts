/** Structured logs: one JSON object per line on standard output, written in batches, with secrets left out. */
import { getErrorCode } from '../error-text.ts';
import { damageAdvice, isDamage } from '../storage/damage.ts';

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFields = Readonly<Record<string, unknown>>;

export type Log = ReturnType<typeof createLog>;

const flushAfterMs = 100;
const flushAtCharacters = 32_768;

/** @param write receives whole lines */
export function createLog(level: LogLevel, write: (text: string) => void, now: () => number) {
  const threshold = logLevels.indexOf(level);
  let waiting = '';
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Writes the pending lines; called before the process ends. */
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    write(text);
  }
  function append(line: string): void {
    waiting += line;
    if (waiting.length >= flushAtCharacters) flush();
    else timer ??= setTimeout(flush, flushAfterMs);
  }
  const isEnabled = (wanted: LogLevel) => logLevels.indexOf(wanted) >= threshold;
  const logAt =
    (wanted: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (!isEnabled(wanted)) return;
      const line = JSON.stringify({ time: new Date(now()).toISOString(), level: wanted, message, ...fields });
      append(`${line}\n`);
      if (wanted === 'error') flush();
    };
  return {
    debug: logAt('debug'),
    info: logAt('info'),
    warn: logAt('warn'),
    error: logAt('error'),
    /** Appends a complete line, including its line end: for the request line, which is written millions of times. */
    line: (wanted: LogLevel, text: string): void => {
      if (isEnabled(wanted)) append(text);
    },
    isEnabled,
    flush,
  };
}

/** An error's class, code, message, stack and causes, for a log line. */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  // JSON.stringify leaves out an undefined code.
  return {
    error: error.name,
    code: getErrorCode(error),
    reason: error.message,
    ...(isDamage(error) ? { advice: damageAdvice } : {}),
    stack: error.stack,
    ...cause,
  };
}

/** Characters that may await the reader of standard output; beyond this, lines are dropped. */
const waitingLimit = 8 * 1024 * 1024;
/** Milliseconds for which the exit of the process waits for the reader. */
const finishMs = 5000;

/**
 * Standard output without blocking: a stalled or vanished reader or a full disk costs log lines, never requests. When
 * writing is possible again, a line reports how many batches were dropped.
 */
export function createStandardOutput() {
  let sink = Bun.stdout.writer();
  let waiting = 0;
  let dropped = 0;
  /** Whether the last line may have been cut off. */
  let isCut = false;
  let handedOver = Promise.resolve();

  function drop(batches: number): void {
    dropped += batches;
    isCut = true;
  }
  async function handOver(
    pending: readonly Promise<number>[],
    length: number,
    batches: number,
  ): Promise<void> {
    const used = sink;
    waiting += length;
    try {
      await Promise.all(pending);
    } catch {
      drop(batches);
      // A writer whose promise was rejected silently writes nothing from then on.
      if (sink === used) sink = Bun.stdout.writer();
    } finally {
      waiting -= length;
    }
  }

  return {
    /** Never throws: text that cannot be written is dropped and counted. */
    write(text: string): void {
      if (waiting > waitingLimit) {
        dropped++;
        return;
      }
      const batches = dropped + 1;
      const start = `${isCut ? '\n' : ''}${dropped === 0 ? '' : formatNote(dropped)}`;
      dropped = 0;
      isCut = false;
      try {
        const written: number | Promise<number> = sink.write(start + text);
        // The flush may throw before this promise is awaited.
        if (written instanceof Promise) written.catch(() => undefined);
        const pending = [written, sink.flush()].filter(result => result instanceof Promise);
        if (pending.length > 0) handedOver = handOver(pending, text.length, batches);
      } catch {
        drop(batches);
      }
    },
    /** Resolves when all text has been handed over, or after a few seconds. Never rejects. */
    finish: () => Promise.race([handedOver, Bun.sleep(finishMs)]),
  };
}

const formatNote = (batches: number): string =>
  `{"level":"warn","message":"log lines were dropped","batches":${batches}}\n`;
