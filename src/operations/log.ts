/** Structured logs: one JSON object a line on standard output, in batches, with secrets left out. */
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Appends a line that is complete already, its end included: for the request line, written a million times. */
  line(level: LogLevel, text: string): void;
  isEnabled(level: LogLevel): boolean;
  /** Writes what waits; called before the process ends. */
  flush(): void;
}

const flushAfterMs = 100;
const flushAtCharacters = 32_768;

/** @param write gets whole lines; standard output by default */
export function createLog(level: LogLevel, write: (text: string) => void, now: () => number): Log {
  const threshold = logLevels.indexOf(level);
  let waiting = '';
  let timer: ReturnType<typeof setTimeout> | undefined;

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
  const at =
    (wanted: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (!isEnabled(wanted)) return;
      const line = JSON.stringify({ time: new Date(now()).toISOString(), level: wanted, message, ...fields });
      append(`${line}\n`);
      if (wanted === 'error') flush();
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    line: (wanted, text) => {
      if (isEnabled(wanted)) append(text);
    },
    isEnabled,
    flush,
  };
}

/** An error's class, message, stack and causes, for a log line. */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { error: error.name, reason: error.message, stack: error.stack, ...cause };
}

/** Text the reader of standard output has not taken yet, in characters, beyond which lines are dropped. */
const waitingLimit = 8 * 1024 * 1024;

export interface LogOutput {
  write(text: string): void;
  /** Resolves when everything written so far has been handed over. */
  finish(): Promise<void>;
}

/** Standard output without waiting: a reader that has stopped reading costs log lines, never requests. */
export function standardOutput(): LogOutput {
  const sink = Bun.stdout.writer();
  let waiting = 0;
  let dropped = 0;
  let handedOver = Promise.resolve();
  return {
    write(text) {
      if (waiting > waitingLimit) {
        dropped++;
        return;
      }
      const note =
        dropped === 0 ? '' : `{"level":"warn","message":"log lines were dropped","batches":${dropped}}\n`;
      dropped = 0;
      sink.write(note + text);
      const flushed = sink.flush();
      if (typeof flushed === 'number') return;
      waiting += text.length;
      handedOver = flushed.then(() => {
        waiting -= text.length;
      });
    },
    finish: () => handedOver,
  };
}
