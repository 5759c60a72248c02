/** The launcher that started this program, such as scripts/catalog.mjs, and the signals that end it. */
import { createReadStream, readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** The descriptor of a pipe whose other end the launcher holds; undefined without a launcher. */
function findLauncherPipe(): number | undefined {
  const descriptor = Number(process.env.CATALOG_PARENT_PIPE ?? Number.NaN);
  return Number.isInteger(descriptor) ? descriptor : undefined;
}

/** Ends this process with SIGTERM once the launcher has ended, for whatever reason. */
export function endWithLauncher(): void {
  const descriptor = findLauncherPipe();
  if (descriptor === undefined) return;
  const pipe = createReadStream('', { fd: descriptor });
  for (const event of ['end', 'error'] as const) pipe.on(event, () => process.kill(process.pid, 'SIGTERM'));
  pipe.resume();
}

const endingSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

type EndingSignal = (typeof endingSignals)[number];

/**
 * Signals within this many milliseconds of the first count as the same one: a supervisor or a terminal signals a whole
 * process group, and the launcher in that group passes the signal on.
 */
const passedOnMs = 1000;

/**
 * Signals that are ignored, as SIGHUP is under nohup, stay ignored.
 * @returns the first signal; the second, sent by someone who does not want to wait; and a function that stops listening
 */
export function listenForStop() {
  const first = Promise.withResolvers<EndingSignal>();
  const second = Promise.withResolvers<EndingSignal>();
  const window = findLauncherPipe() === undefined ? 0 : passedOnMs;
  let begun: { readonly signal: EndingSignal; readonly at: number } | undefined;
  const onSignal = (signal: EndingSignal): void => {
    if (begun === undefined) {
      begun = { signal, at: performance.now() };
      first.resolve(signal);
      return;
    }
    // Only a person sends SIGINT after another signal.
    const isOther = signal === 'SIGINT' && begun.signal !== 'SIGINT';
    if (isOther || performance.now() >= begun.at + window) second.resolve(signal);
  };
  const listened = findListened();
  for (const signal of listened) process.on(signal, onSignal);
  const withdraw = (): void => {
    for (const signal of listened) process.off(signal, onSignal);
  };
  return { first: first.promise, second: second.promise, withdraw };
}

/**
 * Calls `work` when a signal is about to end this process, which then ends by that signal. Signals that are ignored,
 * as SIGHUP is under nohup, stay ignored.
 * @returns a function that stops listening
 */
export function listenForEnd(work: (signal: NodeJS.Signals) => void): () => void {
  const listened = findListened();
  const onSignal = (signal: NodeJS.Signals): void => {
    withdraw();
    try {
      work(signal);
    } finally {
      process.kill(process.pid, signal);
    }
  };
  const withdraw = (): void => {
    for (const signal of listened) process.off(signal, onSignal);
  };
  for (const signal of listened) process.on(signal, onSignal);
  return withdraw;
}

const findListened = (): EndingSignal[] => endingSignals.filter(signal => !isIgnored(signal));

/** Whether this process ignores a signal, according to /proc; false on systems without it. */
function isIgnored(signal: EndingSignal): boolean {
  try {
    const mask = /^SigIgn:\s*([\da-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}
