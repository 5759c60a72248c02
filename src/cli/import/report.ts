/** What an import tells: how far it is, which records it refused, and what came of it. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { ErrorDetail } from '../../http/errors.ts';
import type { ImportCounts } from '../../resources/products/import/plan.ts';

/** One line of the rejects file. */
export interface Reject {
  /** The line of the source file on which the record starts. */
  readonly line: number;
  /** For people. */
  readonly error: string;
  readonly details: readonly ErrorDetail[];
  /** The record's own text. */
  readonly raw: string;
}

export interface Rejects {
  add(reject: Reject): void;
  readonly count: number;
  /** How many records break which rule, the most frequent first. */
  reasons(): (readonly [reason: string, count: number])[];
  /** Writes what has been added; to be called before the records around it are committed. */
  flush(): void;
  close(): void;
}

const shownRejects = 20;
/** Different reasons that are counted apart, and those that are shown. */
const [mostReasons, shownReasons] = [1000, 10];
const otherReasons = 'other reasons';

/** What is wrong, without the values and positions that differ from record to record. */
const reasonsOf = ({ error, details }: Reject): readonly string[] =>
  details.length === 0
    ? [error]
    : details.map(({ field, message }) => `${field.replace(/\.\d+$/, '')} ${message}`);

/**
 * @param file NDJSON, a line per reject; without it the first few go to standard error
 * @param append keeps what the file holds, as the continuation of an import has to
 */
export function openRejects(file: string | undefined, append: boolean): Rejects {
  const descriptor = file === undefined ? undefined : openSync(file, append ? 'a' : 'w', 0o600);
  let count = 0;
  let lines = '';
  const counts = new Map<string, number>();
  const flush = () => {
    if (descriptor !== undefined && lines !== '') writeSync(descriptor, lines);
    lines = '';
  };
  return {
    get count() {
      return count;
    },
    reasons: () => [...counts].sort(([, a], [, b]) => b - a),
    add(reject) {
      count += 1;
      for (const reason of new Set(reasonsOf(reject))) {
        const kept = counts.has(reason) || counts.size < mostReasons ? reason : otherReasons;
        counts.set(kept, (counts.get(kept) ?? 0) + 1);
      }
      if (descriptor !== undefined) {
        lines += `${JSON.stringify(reject)}\n`;
        // Where every record is refused nothing is committed, and this would grow with the file.
        if (lines.length > 1024 * 1024) flush();
      } else if (count <= shownRejects) {
        console.error(`line ${reject.line}: ${reject.error}`);
        if (count === shownRejects) console.error('(more are only counted; --rejects FILE keeps them all)');
      }
    },
    flush,
    close() {
      flush();
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

/** How far an import is. */
interface Position {
  /** Records of the file that need not be read again: what --skip takes. */
  readonly records: number;
  /** Records this run has handled, without those that were skipped. */
  readonly handled: number;
  readonly bytes: number;
}

export interface Progress {
  update(position: Position): void;
  /** Leaves the terminal with the cursor at the start of a line. */
  end(): void;
}

const barWidth = 30;
const terminalEveryMs = 100;
const lineEveryMs = 3000;

/** @param totalBytes of the source; undefined when it is a stream */
export function createProgress(terminal: boolean, totalBytes: number | undefined): Progress {
  const started = performance.now();
  let next = 0;
  let drawn = false;
  return {
    update(position) {
      const now = performance.now();
      if (now < next) return;
      next = now + (terminal ? terminalEveryMs : lineEveryMs);
      const share = totalBytes ? Math.min(1, position.bytes / totalBytes) : undefined;
      const percent = share === undefined ? '' : `${Math.floor(share * 100)} %, `;
      const rate = perSecond(position.handled, now - started);
      const text = `${percent}${grouped(position.records)} records done, ${rate}`;
      if (!terminal) console.error(`catalog import: ${text}`);
      else process.stderr.write(`\r\u001B[K${share === undefined ? '' : `${bar(share)} `}${text}`);
      drawn = terminal;
    },
    end() {
      if (drawn) process.stderr.write('\r\u001B[K');
      drawn = false;
    },
  };
}

function bar(share: number): string {
  const full = Math.round(share * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
}

export const grouped = (count: number): string => count.toLocaleString('en-US');

const perSecond = (records: number, milliseconds: number): string =>
  `${grouped(Math.round(records / Math.max(milliseconds / 1000, 0.001)))}/s`;

/** What is to be known beside the counts, a line each: repeated skus, and why records were rejected. */
export function remarks(repeated: number, rejects: Pick<Rejects, 'reasons'>): string[] {
  const reasons = rejects.reasons();
  const more = reasons.length - shownReasons;
  return [
    ...(repeated === 0
      ? []
      : [
          `${grouped(repeated)} ${repeated === 1 ? 'record has' : 'records have'} the sku of an earlier one; of each sku the last counts`,
        ]),
    ...reasons.slice(0, shownReasons).map(([reason, count]) => `${grouped(count)} rejected: ${reason}`),
    ...(more > 0 ? [`and ${grouped(more)} more reasons`] : []),
  ];
}

/** The last line of an import, on standard output. */
export function summary(
  counts: ImportCounts & { readonly rejected: number },
  milliseconds: number,
  dryRun: boolean,
): string {
  const { created, updated, unchanged, rejected } = counts;
  const records = created + updated + unchanged + rejected;
  const parts = `${grouped(created)} created, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged, ${grouped(rejected)} rejected`;
  const speed = `${grouped(records)} records in ${(milliseconds / 1000).toFixed(1)} s, ${perSecond(records, milliseconds)}`;
  return `${dryRun ? 'dry run, nothing was written: ' : ''}${parts} (${speed})`;
}
