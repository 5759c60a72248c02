/** The output of an import: its progress, the records that it rejects, and the summary. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import type { ErrorDetail } from '../../http/errors.ts';
import type { ImportCounts } from '../../resources/products/import/plan.ts';
import { createWriteError } from '../output-file.ts';
import { escapeUnprintable, formatCount, formatQuantity } from '../terminal/index.ts';

export interface Reject {
  /** The line of the source file on which the record starts. */
  readonly line: number;
  /** The message for people. */
  readonly error: string;
  readonly details: readonly ErrorDetail[];
  /** The source text of the record. */
  readonly raw: string;
}

interface Reason {
  readonly reason: string;
  count: number;
  /** The first record that was rejected for this reason. */
  readonly example: Pick<Reject, 'line' | 'error'> | undefined;
}

export type Rejects = ReturnType<typeof openRejects>;

const shownRejects = 20;
/** The most reasons that are counted separately, and the most that are shown. */
const [maxReasons, shownReasons] = [1000, 10];
const otherReasons = 'other reasons';

/** Reasons, without the values and positions that differ between records → the part of this record's error. */
function toReasons({ error, details }: Reject): ReadonlyMap<string, string> {
  if (details.length === 0) return new Map([[removeValues(error), error]]);
  const reasons = new Map<string, string>();
  for (const [index, { field, message }] of details.entries()) {
    const reason = `${field.replace(/\.\d+(?=\.|$)/g, '')} ${removeValues(message)}`;
    if (!reasons.has(reason)) reasons.set(reason, findPart(error, details, index));
  }
  return reasons;
}

/** The part of an error that describes one of its details, if the error lists them in order. */
function findPart(error: string, details: readonly ErrorDetail[], index: number): string {
  const [own, next] = details.slice(index);
  if (own === undefined || details.length === 1) return error;
  const start = error.indexOf(`${own.field} ${own.message}`);
  if (start < 0) return `${own.field}: ${own.message}`;
  const end = next === undefined ? -1 : error.indexOf(`; ${next.field} ${next.message}`, start);
  return error.slice(start, end < 0 ? undefined : end);
}

const removeValues = (text: string): string =>
  text.replace(/"[^"]*"/g, '"…"').replace(/\b(line|variant|product) \d+/g, '$1 …');

/**
 * @param file NDJSON, a line per reject; without it the first few go to standard error
 * @param append keeps the contents of the file, for an import that continues an earlier one
 */
export function openRejects(file: string | undefined, append: boolean) {
  const descriptor = file === undefined ? undefined : openSync(file, append ? 'a' : 'w', 0o600);
  let count = 0;
  let lines = '';
  const counts = new Map<string, Reason>();
  /** Writes the added rejects. Must be called before the records around them are committed. */
  const flush = () => {
    const written = lines;
    // Clear the lines first: if writing fails, the flush in close must not fail again.
    lines = '';
    if (file === undefined || descriptor === undefined || written === '') return;
    try {
      // Not writeSync: on a nearly full disk it writes only a part, and reports that only in its result.
      writeFileSync(descriptor, written);
    } catch (error) {
      throw createWriteError(file, error);
    }
  };
  return {
    get count(): number {
      return count;
    },
    /** How many records break each rule, the most frequent first. */
    reasons: () => [...counts.values()].sort((a, b) => b.count - a.count),
    add(reject: Reject): void {
      count += 1;
      for (const [reason, shown] of toReasons(reject)) {
        const kept = counts.has(reason) || counts.size < maxReasons ? reason : otherReasons;
        const known = counts.get(kept);
        if (known !== undefined) known.count += 1;
        else
          counts.set(kept, {
            reason: kept,
            count: 1,
            example: kept === reason ? { line: reject.line, error: shown.slice(0, 200) } : undefined,
          });
      }
      if (descriptor !== undefined) {
        lines += `${JSON.stringify(reject)}\n`;
        // If every record is refused, nothing is committed, and the lines would grow with the file.
        if (lines.length > 1024 * 1024) flush();
      } else if (count <= shownRejects) {
        console.error(`line ${reject.line}: ${escapeUnprintable(reject.error)}`);
        if (count === shownRejects)
          console.error('(further rejected records are only counted; --rejects FILE writes all of them)');
      }
    },
    flush,
    close(): void {
      flush();
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

export interface ImportState {
  created: number;
  updated: number;
  unchanged: number;
  /** Records that repeat the sku or externalId of an earlier one. */
  repeated: number;
  /** Records of the file that are committed or rejected: the value for --skip. */
  done: number;
  /** Records of the file, once all of it has been read. */
  rows: number;
  /** Products, variants and images in the records that were read, whether they change anything or not. */
  products: number;
  variants: number;
  images: number;
  /** Images that refer to uploads that the catalog does not have. */
  lostUploads: number;
  /** Products that got another sku. */
  renamed: number;
  /** Notes, with the number of occurrences of each. */
  notes: readonly (readonly [text: string, count: number])[];
  /** Columns that nothing was taken from. */
  unused: readonly string[];
}

export const createInitialState = (): ImportState => ({
  ...{ created: 0, updated: 0, unchanged: 0, repeated: 0, done: 0, rows: 0 },
  ...{ products: 0, variants: 0, images: 0, lostUploads: 0, renamed: 0, notes: [], unused: [] },
});

/** The progress of an import. */
interface Position {
  /** Records of the file that need not be read again: the value for --skip. */
  readonly records: number;
  /** Records that this run has handled, without skipped ones. */
  readonly handled: number;
  readonly bytes: number;
}

export type Progress = ReturnType<typeof createProgress>;

const barWidth = 30;
const terminalEveryMs = 100;
const lineEveryMs = 3000;

/** @param totalBytes the size of the source; undefined for a stream */
export function createProgress(terminal: boolean, totalBytes: number | undefined) {
  const started = performance.now();
  let next = 0;
  let drawn = false;
  return {
    update(position: Position): void {
      const now = performance.now();
      if (now < next) return;
      next = now + (terminal ? terminalEveryMs : lineEveryMs);
      const share = totalBytes ? Math.min(1, position.bytes / totalBytes) : undefined;
      const percent = share === undefined ? '' : `${Math.floor(share * 100)} %, `;
      const rate = formatSpeed(position.handled, now - started);
      const text = `${percent}${formatQuantity(position.records, 'record')} done, ${rate}`;
      if (!terminal) console.error(`catalog import: ${text}`);
      else process.stderr.write(`\r\u001B[K${share === undefined ? '' : `${formatBar(share)} `}${text}`);
      drawn = terminal;
    },
    /** Leaves the terminal with the cursor at the start of a line. */
    end(): void {
      if (drawn) process.stderr.write('\r\u001B[K');
      drawn = false;
    },
  };
}

function formatBar(share: number): string {
  const full = Math.round(share * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
}

const formatSpeed = (records: number, milliseconds: number): string =>
  `${formatCount(Math.round(records / Math.max(milliseconds / 1000, 0.001)))}/s`;

/**
 * Remarks besides the counts, one line each: what was read, repeated skus, the reasons for rejects with an example
 * each, and unused columns.
 */
export function formatRemarks(state: ImportState, rejects: Pick<Rejects, 'reasons'>): string[] {
  const reasons = rejects.reasons();
  const more = reasons.length - shownReasons;
  const { repeated, unused } = state;
  return [
    `read ${formatQuantity(Math.max(state.rows, state.done), 'row')}: ${formatQuantity(state.products, 'product')}, ${formatQuantity(state.variants, 'variant')}, ${formatQuantity(state.images, 'image')}`,
    ...(repeated === 0
      ? []
      : [
          `${formatCount(repeated)} ${repeated === 1 ? 'record repeats' : 'records repeat'} the sku or externalId of an earlier record; the last one wins`,
        ]),
    ...reasons
      .slice(0, shownReasons)
      .flatMap(({ reason, count, example }) => [
        `${formatCount(count)} rejected: ${reason}`,
        ...(example === undefined ? [] : [`  as line ${example.line}: ${example.error}`]),
      ]),
    ...(more > 0 ? [`and ${formatCount(more)} more ${more === 1 ? 'reason' : 'reasons'}`] : []),
    ...(state.renamed === 0
      ? []
      : [`${formatQuantity(state.renamed, 'product')} found by externalId got a new sku`]),
    ...(state.lostUploads === 0
      ? []
      : [
          `${formatCount(state.lostUploads)} × images are uploads that this catalog does not have, and were left out`,
        ]),
    ...state.notes.map(([text, count]) => `${formatCount(count)} × ${text}`),
    ...(unused.length > 0
      ? [
          `columns not used: ${unused.slice(0, shownColumns).join(', ')}${unused.length > shownColumns ? ` and ${unused.length - shownColumns} more` : ''}`,
        ]
      : []),
  ].map(line => `catalog import: ${escapeUnprintable(line)}`);
}

const shownColumns = 40;

/** The last line of an import, on standard output. */
export function formatSummary(
  counts: ImportCounts & { readonly rejected: number },
  milliseconds: number,
  dryRun: boolean,
): string {
  const { created, updated, unchanged, rejected } = counts;
  const records = created + updated + unchanged + rejected;
  const parts = `${formatCount(created)} created, ${formatCount(updated)} updated, ${formatCount(unchanged)} unchanged, ${formatCount(rejected)} rejected`;
  const speed = `${formatQuantity(records, 'record')} in ${(milliseconds / 1000).toFixed(1)} s, ${formatSpeed(records, milliseconds)}`;
  return `${dryRun ? 'dry run, nothing was written: ' : ''}${parts} (${speed})`;
}
