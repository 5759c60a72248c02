/** Reads unchecked candidates for products from a file: one per record, or with a preset one per group of rows. */
import { type Mapping, pickMember, productFields } from '../../files/cells/map.ts';
import {
  createRecordMapper,
  findRepeatedAttribute,
  type Mapper,
  nameUnnamed,
} from '../../files/cells/mapper.ts';
import type { SourceRecord } from '../../files/read.ts';
import type { ErrorDetail } from '../../http/errors.ts';
import { isObject } from '../../json-object.ts';
import type { ImportArguments } from './options.ts';
import { createAttributeDropper, createAttributeKeyMaker } from './presets/attributes.ts';
import { resolveColumns } from './presets/columns.ts';
import { requireCurrency, toMembers } from './presets/draft.ts';
import { readTemplateColumns } from './presets/feeds/template.ts';
import { formatProposal, getPreset, requireColumns } from './presets/index.ts';
import { createRowJoiner, type Joined, joinRaw } from './presets/join.ts';
import {
  type Columns,
  type Draft,
  type Drafting,
  type Preset,
  type PresetName,
  type Row,
  RowProblem,
} from './presets/preset.ts';
import { addIdentity } from './repeats.ts';
import { checkArray, type ImportSource } from './source.ts';

export interface Candidate extends Pick<SourceRecord, 'short'> {
  readonly line: number;
  readonly raw: string;
  /** Members of the product to create; undefined when the record cannot be read. */
  readonly fields: Record<string, unknown> | undefined;
  readonly error?: string;
  readonly details?: readonly ErrorDetail[];
  /** Members → the columns that they come from, where their names differ. */
  readonly columns?: ReadonlyMap<string, string>;
  /** How many records of the file have been read up to the end of this candidate. */
  readonly position: number;
}

/** What to report in addition to the candidates. */
export interface Notices {
  /** Counts an occurrence of `text`. */
  note(text: string): void;
  /** Reports a line at once. */
  say(text: string): void;
  /** Columns that nothing was taken from. */
  unused: readonly string[];
  /** Records of the file read so far. */
  rows: number;
  /** The bytes of these records; undefined if that is what the source has read. */
  bytesRead?: () => number;
}

/** @param again opens the same file again, from its beginning */
export function readCandidates(
  source: ImportSource,
  again: () => Promise<ImportSource>,
  request: ImportArguments,
  notices: Notices,
): AsyncGenerator<readonly Candidate[]> {
  return request.preset === undefined
    ? readRecordCandidates(source, request, notices)
    : readRowCandidates(source, again, request, request.preset, notices);
}

async function* readRecordCandidates(
  source: ImportSource,
  request: ImportArguments,
  notices: Notices,
): AsyncGenerator<readonly Candidate[]> {
  const mapper = createRecordMapper(request);
  let position = 0;
  let looked = false;
  for await (const batch of source.records) {
    const candidates: Candidate[] = [];
    for (const record of batch) {
      position += 1;
      notices.rows = position;
      if (record.fatal === true) {
        const proposal = formatProposal(
          request.fileName,
          (await readTemplateColumns(record, request.file)) ?? [],
        );
        throw new Error(proposal || `line ${record.line} ${record.error}`);
      }
      if (position === 1 && source.format === 'json') await checkArray(record, request);
      if (!looked && record.value !== undefined) {
        const template = await readTemplateColumns(record, request.file);
        const proposal = formatProposal(request.fileName, template ?? record.columns ?? []);
        checkColumns(record, request, proposal);
        if (record.columns !== undefined) {
          if (proposal !== '') notices.say(proposal);
          notices.unused = mapper.unused(record.columns);
        }
        looked = true;
      }
      candidates.push(toCandidate(record, position, request.mapping, mapper));
    }
    yield candidates;
  }
}

function toCandidate(record: SourceRecord, position: number, mapping: Mapping, mapper: Mapper): Candidate {
  const { line, raw, value, error = 'cannot be read', short } = record;
  if (value === undefined) return { line, raw, fields: undefined, error, position };
  const fields = addIdentity(mapper.map(value, record.columns), value);
  // An empty CSV cell means no value; in JSON, null and an empty description are values.
  if (record.columns === undefined) keepExplicit(value, mapping, fields);
  return { line, raw, fields, columns: mapping, position, short };
}

function keepExplicit(
  value: Readonly<Record<string, unknown>>,
  mapping: Mapping,
  mapped: Record<string, unknown>,
): void {
  for (const field of productFields) {
    if (mapped[field] !== undefined) continue;
    const given = value[mapping.get(field) ?? field];
    if (given === null || (given === '' && field === 'description')) mapped[field] = given;
  }
}

/** A missing column that the command line names is a mistake in the command: report it once, not for each line. */
function requireMapped(first: Readonly<Record<string, unknown>>, mapping: Mapping): void {
  for (const [field, column] of mapping) {
    if (pickMember(first, column) !== undefined) continue;
    const names = Object.keys(first).join(', ');
    throw new Error(`the first record has no column "${column}" for ${field}; it has ${names}`);
  }
}

/** @param proposal suggests a preset, if a shop has written the file; empty otherwise */
function checkColumns(record: SourceRecord, { mapping, set }: ImportArguments, proposal: string): void {
  const { value: first = {}, columns } = record;
  const names = Object.keys(first).join(', ');
  requireMapped(first, mapping);
  if (columns === undefined) return;
  const repeated = findRepeatedAttribute(columns, mapping);
  if (repeated !== undefined) throw new Error(`of the columns, ${repeated}`);
  for (const field of ['name', 'price']) {
    if (mapping.has(field) || set.has(field) || pickMember(first, field) !== undefined) continue;
    throw new Error(
      proposal || `there is no column "${field}": name it with --map ${field}=COLUMN, one of ${names}`,
    );
  }
}

/** Maps members to their columns, once for each header, except members that the command line sets. */
function createColumnNamer({ members }: Preset, { mapping, set }: ImportArguments) {
  let known: Columns | undefined;
  let names: ReadonlyMap<string, string> = new Map();
  return ([row]: readonly Row[]): ReadonlyMap<string, string> => {
    if (row === undefined || row.columns === known) return names;
    known = row.columns;
    const { found } = known;
    const own = Object.entries(members).flatMap(([member, name]) => {
      const column = found.get(name);
      return column === undefined || set.has(member) ? [] : [[member, column] as const];
    });
    names = new Map([...own, ...mapping]);
    return names;
  };
}

const createDrafting = (
  { cells, imageBase, dropUnknown }: ImportArguments,
  drop: Drafting['drop'],
  { note }: Notices,
): Drafting => ({
  cells,
  imageBase,
  dropUnknown,
  drop,
  now: Date.now(),
  skus: new Set(),
  keyOf: createAttributeKeyMaker(note),
  note,
});

/** A batch of candidates is yielded once it has this many rows. */
const batchRows = 1000;

async function* readRowCandidates(
  source: ImportSource,
  again: () => Promise<ImportSource>,
  request: ImportArguments,
  name: PresetName,
  notices: Notices,
): AsyncGenerator<readonly Candidate[]> {
  const { fileName, dropUnknown } = request;
  const preset = getPreset(name);
  const join = createRowJoiner(preset, fileName, notices.note);
  const mapper = createRecordMapper({ ...request, only: true });
  const dropper = createAttributeDropper(request.drop, notices.note);
  const drafting = createDrafting(request, dropper.drop, notices);
  const nameColumns = createColumnNamer(preset, request);
  let columns: readonly string[] | undefined;
  const lookAt = (all: readonly string[]) => {
    requireColumns(preset, all, fileName);
    requireMapped(Object.fromEntries(all.map(name => [name, ''])), request.mapping);
    notices.unused = [...(dropUnknown ? resolveColumns(preset, all).rest : []), ...nameUnnamed(all)];
  };
  for await (const batch of source.records) {
    for (const record of batch) {
      if (record.fatal === true) throw new Error(`line ${record.line} ${record.error}`);
      if (source.format !== 'csv' && source.format !== 'xml')
        throw new Error(
          `${fileName} is ${source.format.toUpperCase()}; ${preset.file} is a table: CSV or TSV`,
        );
      // All rows of a table have the columns of the first; the elements of a feed are known only at its end.
      if (columns === undefined && record.columns !== undefined && source.format === 'csv')
        lookAt(record.columns);
      columns = record.columns ?? columns;
      join.survey(record);
    }
  }
  const feedColumns = source.format === 'xml' ? columns : undefined;
  if (feedColumns !== undefined) lookAt(feedColumns);
  const toJoinedCandidate = (joined: Joined, position: number): Candidate =>
    'rows' in joined
      ? draftCandidate(joined.rows, position)
      : {
          line: joined.record.line,
          raw: joined.record.raw,
          fields: undefined,
          error: joined.problem,
          position,
        };

  function draftCandidate(rows: readonly Row[], position: number): Candidate {
    const [{ line } = { line: 0 }] = rows;
    const raw = request.rejects === undefined ? '' : joinRaw(rows);
    try {
      const draft = preset.draft(rows, drafting);
      const columns = nameColumns(rows);
      return { line, raw, fields: addMapped(draft, rows, mapper), columns, position };
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      return { line: error.line, raw, fields: undefined, ...toProblem(error), position };
    }
  }

  let position = 0;
  let candidates: Candidate[] = [];
  let rows = 0;
  const second = await again();
  notices.bytesRead = () => second.bytesRead();
  for await (const batch of second.records) {
    for (const record of batch) {
      position += 1;
      notices.rows = position;
      const joined = join.take(feedColumns === undefined ? record : { ...record, columns: feedColumns });
      if (joined === undefined) continue;
      candidates.push(toJoinedCandidate(joined, position));
      rows += 'rows' in joined ? joined.rows.length : 1;
      if (rows < batchRows) continue;
      yield candidates;
      candidates = [];
      rows = 0;
    }
  }
  candidates.push(...join.rest().map(joined => toJoinedCandidate(joined, position)));
  for (const name of dropper.missing()) notices.say(`--drop "${name}": no attribute has this name`);
  if (candidates.length > 0) yield candidates;
}

/** Columns and values that the command line gives take precedence over the preset. @throws RowProblem */
function addMapped(draft: Draft, rows: readonly Row[], mapper: Mapper): Record<string, unknown> {
  const members = toMembers(draft);
  const [own] = rows;
  if (own === undefined) return members;
  const { attributes, ...mapped } = mapper.map(own.value, own.columns.all);
  requireCurrency(draft, mapped);
  const all =
    isObject(members.attributes) && isObject(attributes)
      ? { ...members.attributes, ...attributes }
      : attributes;
  return { ...members, ...mapped, ...(all === undefined ? {} : { attributes: all, attributesByKey: true }) };
}

function toProblem({ column, problem, value }: RowProblem) {
  const shown = value === '' ? '' : ` (it is ${JSON.stringify(value)})`;
  const details = [{ field: column, pointer: '', code: 'invalid', message: problem }];
  return { error: `${column} ${problem}${shown}`, details };
}
