/** Reads and checks the records of a source in chunks: the part of an import that needs no database. */
import { Unreadable } from '../../files/cells/fields.ts';
import { listPrefixes, pickMember } from '../../files/cells/map.ts';
import { buildErrorDetail, type ErrorDetail } from '../../http/errors.ts';
import { isTooDeep } from '../../json-object.ts';
import {
  createRecordCheck,
  type ImportRecord,
  type PreparedRecord,
  prepareRecord,
  type RecordCheck,
} from '../../resources/products/import/prepared.ts';
import { formatCount } from '../terminal/index.ts';
import type { Candidate, Notices } from './candidates/candidate.ts';
import { readCandidates } from './candidates/index.ts';
import { dropColumns } from './dropped.ts';
import type { ImportArguments } from './options.ts';
import { getPreset } from './presets/index.ts';
import { shortRow } from './presets/join.ts';
import {
  type Checked,
  createGatherer,
  createRepetitions,
  findRepeated,
  getRecordKey,
  isOwnKey,
  isSku,
} from './repeats.ts';
import type { Reject } from './report.ts';
import { type ImportSource, openSource, spoolInput } from './source.ts';

export interface RecordsRequest extends ImportArguments {
  /** The currency of created products that name none. */
  readonly currency: string;
  /** Whether to read the file twice, to write the records of one sku together, if the products may exist already. */
  readonly gather: boolean;
  /** The folder that a stream is copied to; undefined if the source is a file, or is read only once. */
  readonly spool: string | undefined;
}

/** Consecutive records, all prepared with the same timestamp. */
export interface Chunk {
  readonly records: readonly PreparedRecord[];
  /**
   * For each record, how many records of the source are done after it: the value for --skip. Records of one position
   * must be written in one transaction.
   */
  readonly positions: readonly number[];
  /** The source text of each record; empty if that is not wanted. */
  readonly raws: readonly string[];
  readonly rejects: readonly { readonly position: number; readonly reject: Reject }[];
  /** Skus of records that are skipped because they are done already. */
  readonly passed: readonly string[];
  /** Records that repeat the sku or externalId of an earlier one. */
  readonly repeated: number;
  /** Records of the source up to the end of the chunk, and bytes read so far. */
  readonly end: number;
  readonly bytes: number;
  /** Lines to report at once. */
  readonly said: readonly string[];
  /** Only with the last chunk: the counted notes, and the columns that nothing was taken from. */
  readonly last?: {
    readonly notes: readonly (readonly [text: string, count: number])[];
    readonly unused: readonly string[];
    readonly rows: number;
  };
}

export interface OpenedRecords {
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined;
  readonly chunks: AsyncGenerator<Chunk>;
}

/** @throws Error with one line when there is no such file; `chunks` throws one if the file cannot be imported */
export async function openRecords(given: RecordsRequest): Promise<OpenedRecords> {
  const { spool } = given;
  const request = spool === undefined ? given : { ...given, file: await spoolInput(given.file, spool) };
  const source = await openFile(request);
  const totalBytes = spool === undefined ? source.totalBytes : undefined;
  return { totalBytes, chunks: readChunks(source, request) };
}

/** Templates of Meta and Google begin with lines that explain the columns. */
async function openFile(request: RecordsRequest): Promise<ImportSource> {
  const { file, format, preset: name, headerLine: line, drop } = request;
  const preset = name === undefined ? undefined : getPreset(name);
  const header =
    preset === undefined
      ? { line }
      : { line, comments: true, repeated: preset.repeated, places: preset.places };
  const source = await openSource(file, format, { ...request, header, feeds: preset?.isFeed });
  return preset === undefined && drop.length > 0 ? dropColumns(source, drop) : source;
}

/** The keys whose records must be gathered: none with a preset, or for a stream, which cannot be read again. */
async function findRepeatedKeys(source: ImportSource, request: RecordsRequest): Promise<Map<string, number>> {
  const { gather, preset } = request;
  if (!gather || source.totalBytes === undefined || preset !== undefined) return new Map();
  return findRepeated((await openFile(request)).records, request);
}

/** Collects what a chunk reports in addition to its records. */
function createNoticeBoard() {
  const notes = new Map<string, number>();
  const said: string[] = [];
  const notices: Notices = {
    note: text => void notes.set(text, (notes.get(text) ?? 0) + 1),
    say: text => void said.push(text),
    unused: [],
    rows: 0,
  };
  return {
    notices,
    /** The lines reported since the last call. */
    said: () => said.splice(0),
    /** Must be called when a record is identified by these columns. */
    useIdentities(): void {
      notices.unused = notices.unused.filter(column => column !== 'id' && column !== 'createdAt');
    },
    /** What the last chunk reports. */
    last: () => ({ notes: [...notes], unused: notices.unused, rows: notices.rows }),
  };
}

async function* readChunks(source: ImportSource, request: RecordsRequest): AsyncGenerator<Chunk> {
  const { fileName, skip, currency, headerLine } = request;
  const repeatedKeys = await findRepeatedKeys(source, request);
  const gathering = repeatedKeys.size > 0;
  const { take, rest } = createGatherer(repeatedKeys);
  const { had } = createRepetitions();
  const checkRecord = createRecordCheck();
  const { notices, said, last, useIdentities } = createNoticeBoard();
  const reopenFile = () => openFile(request);
  const toChunk = (
    all: readonly Checked[],
    rest: Omit<Chunk, 'records' | 'raws' | 'bytes' | 'said'>,
  ): Chunk => {
    const at = Date.now();
    return {
      ...rest,
      records: all.map(({ record, line }) => prepareRecord(record, currency, at, line)),
      raws: all.map(({ raw }) => raw),
      bytes: notices.bytesRead?.() ?? source.bytesRead(),
      said: [...source.said(), ...said()],
    };
  };
  let position = 0;
  for await (const batch of readCandidates(source, reopenFile, request, notices)) {
    // A file that is read twice must not change: a product could be made of rows of two versions.
    if (source.isChanged()) throw new Error(`${fileName} changed while it was read: import it again`);
    const taken: Checked[] = [];
    const positions: number[] = [];
    const rejects: { position: number; reject: Reject }[] = [];
    const passed: string[] = [];
    let repeated = 0;
    for (const candidate of batch) {
      position = candidate.position;
      const done = position <= skip;
      const key = getRecordKey(candidate.fields);
      if (done && key !== undefined && isSku(key)) passed.push(key);
      // A record that is done already matters only for gathering, where it may have waited for later records.
      if (done && !gathering) continue;
      const checked = check(candidate, checkRecord);
      const valid = 'error' in checked ? undefined : toChecked(checked, candidate, request);
      if (valid?.record.identity !== undefined) useIdentities();
      if (valid !== undefined && candidate.short !== undefined) notices.note(shortRow);
      if (valid !== undefined && hasRoundedKey(valid.record)) notices.note(roundedKey);
      const ready = gathering ? take(key, valid) : valid === undefined ? [] : [valid];
      if (done) continue;
      if ('error' in checked) rejects.push({ position, reject: checked });
      else if (key !== undefined && had(key)) {
        if (isOwnKey(key)) repeated += 1;
        else if (!hasVariantSku(checked)) notices.note(repeatedIdentity);
      } else if (key === undefined && !hasVariantSku(checked)) notices.note(unidentified);
      for (const one of ready) {
        taken.push(one);
        positions.push(position);
      }
    }
    yield toChunk(taken, { positions, rejects, passed, repeated, end: position });
  }
  // A preset that leaves out all rows yields no candidates.
  if (notices.rows === 0)
    throw new Error(`${fileName} has no records: ${describeEmptiness(source, headerLine)}`);
  const left = rest();
  const positions = left.map(() => position);
  yield toChunk(left, { positions, rejects: [], passed: [], repeated: 0, end: notices.rows, last: last() });
}

/** How spreadsheets show a number that does not fit its column, and save it: `4.00638E+12`. */
const rounded = /^\d(?:[.,]\d{1,14})?E\+\d\d$/;
const roundedKey =
  'skus or external ids look like numbers that a spreadsheet has rounded (4.00638E+12): several products may have got the same one';

/** A row that was copied within an export, to be changed into another product. */
const repeatedIdentity =
  'records have the id and createdAt of an earlier one: where it was exported they are one product, and the last one wins';

/** Importing a price list again must not fill the catalog with copies unnoticed. */
const unidentified =
  'records have neither a sku nor an external id: importing them again creates their products again (a column that identifies them can be named with --map, as in --map externalId=COLUMN)';

const hasVariantSku = ({ variants = [] }: ImportRecord): boolean => variants.some(({ sku }) => sku != null);

const hasRoundedKey = ({ sku, externalId, variants = [] }: ImportRecord): boolean =>
  [sku, externalId, ...variants.map(variant => variant.sku)].some(one => one != null && rounded.test(one));

const toChecked = (
  record: ImportRecord,
  { line, raw }: Candidate,
  { rejects }: Pick<RecordsRequest, 'rejects'>,
): Checked => ({ record, line, raw: rejects === undefined ? '' : raw });

function describeEmptiness(source: ImportSource, headerLine: number | undefined): string {
  if (source.isBlank) return 'it is empty';
  if (source.format === 'csv' && headerLine !== undefined) return `nothing follows its line ${headerLine}`;
  return source.format === 'csv' ? 'it has only a header row' : 'its list is empty';
}

/** The candidate's checked fields, or the reasons for its refusal. */
function check(
  { line, fields, error = 'cannot be read', details = [], columns, raw, short }: Candidate,
  checkRecord: RecordCheck,
): ImportRecord | Reject {
  if (fields === undefined) return { line, error, details, raw };
  const unreadable = findUnreadable(fields);
  const checked = checkRecord(fields);
  if (!isDetails(checked) && unreadable.length === 0) return checked;
  // A cell within the row is more likely missing than the last ones empty.
  if (short !== undefined) return { line, error: short.problem, details, raw };
  const broken = isDetails(checked) ? checked : [];
  const byField = new Map(unreadable.map(detail => [detail.field, detail]));
  const findReason = (detail: ErrorDetail) =>
    listPrefixes(detail.field).flatMap(path => byField.get(path) ?? [])[0] ?? detail;
  const all = [...new Set([...broken.map(findReason), ...unreadable])];
  const reasons = all
    .slice(0, maxReasons)
    .map(({ field, message }) => `${field} ${message}${formatOrigin(fields, field, columns)}`);
  const more = all.length - reasons.length;
  if (more > 0) reasons.push(`and ${formatCount(more)} more`);
  return { line, error: reasons.join('; '), details: all, raw };
}

/** The most problems of one record that its error names: a product has up to ten thousand variants. */
const maxReasons = 100;

/** How deep members of a field are read one by one, as in `variants.0.stock.onHand`. */
const deepestRead = 4;

/** The values that could not be read. As objects they would satisfy a schema whose members are all optional. */
function findUnreadable(value: object, path: readonly string[] = []): ErrorDetail[] {
  const found: ErrorDetail[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'object' || member === null) continue;
    const at = [...path, name];
    if (!(member instanceof Unreadable)) {
      // Not push(...): a list of very many does not fit on the stack.
      if (at.length < deepestRead) for (const one of findUnreadable(member, at)) found.push(one);
    } else found.push(buildErrorDetail(at, 'type', member.problem));
  }
  return found;
}

const shownLength = 60;

/**
 * The origin of a field, such as `tags.1`, that breaks a rule: its column, if its name differs, and its value, unless
 * it is missing.
 */
function formatOrigin(
  mapped: Readonly<Record<string, unknown>>,
  field: string,
  columns: Candidate['columns'],
): string {
  const name = field.replace(/^variants\.\d+\./, '');
  const whole = name.replace(/\..*/, '');
  // Of several columns of a list, it is unknown which one the value comes from.
  const list = columns?.has(`${whole}#2`) === true ? undefined : columns?.get(whole);
  const column = columns?.get(field) ?? columns?.get(name) ?? list;
  const value = pickMember(mapped, field);
  // Boundary: JSON.stringify is typed as always returning text, but returns undefined for a missing value.
  const text = isTooDeep(value) ? undefined : (JSON.stringify(value) as string | undefined);
  const shown = text !== undefined && text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
  const origin = [
    ...(column === undefined || column === field ? [] : [`column "${column}"`]),
    ...(shown === undefined ? [] : [`it is ${shown}`]),
  ];
  return origin.length === 0 ? '' : ` (${origin.join(', ')})`;
}

const isDetails = (checked: ReturnType<RecordCheck>): checked is Exclude<typeof checked, ImportRecord> =>
  Array.isArray(checked);
