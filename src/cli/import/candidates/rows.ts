/** Reads candidates with a preset: one for each group of rows of a shop's file. */
import { Unreadable } from '../../../files/cells/fields.ts';
import { createRecordMapper, type Mapper, nameUnnamed } from '../../../files/cells/mapper.ts';
import type { FileFormat } from '../../../files/read.ts';
import { isObject } from '../../../json-object.ts';
import type { ImportArguments } from '../options.ts';
import { createAttributeDropper, createAttributeKeyMaker } from '../presets/attributes.ts';
import { resolveColumns } from '../presets/columns.ts';
import { requireCurrency, toMembers } from '../presets/draft.ts';
import { getPreset, requireColumns } from '../presets/index.ts';
import { createRowJoiner, type Joined, joinRaw } from '../presets/join.ts';
import {
  type Columns,
  type Draft,
  type Drafting,
  type Preset,
  type PresetName,
  type Row,
  RowProblem,
} from '../presets/preset.ts';
import type { ImportSource } from '../source.ts';
import { type Candidate, type Notices, requireMapped } from './candidate.ts';
import { readTable } from './tables.ts';

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
  { cells, dropUnknown }: ImportArguments,
  format: FileFormat,
  drop: Drafting['drop'],
  { note }: Notices,
): Drafting => ({
  // In JSON, tags are a list.
  cells: format === 'csv' || format === 'xml' ? cells : { ...cells, tagSeparator: undefined },
  dropUnknown,
  drop,
  now: Date.now(),
  skus: new Set(),
  keyOf: createAttributeKeyMaker(note),
  note,
});

/** A batch of candidates is yielded once it has this many rows. */
const batchRows = 1000;

export async function* readRowCandidates(
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
  const drafting = createDrafting(request, source.format, dropper.drop, notices);
  const nameColumns = createColumnNamer(preset, request);
  let columns: readonly string[] | undefined;
  const lookAt = (all: readonly string[]) => {
    requireColumns(preset, all, fileName);
    requireMapped(Object.fromEntries(all.map(name => [name, ''])), request.mapping);
    notices.unused = [...(dropUnknown ? resolveColumns(preset, all).rest : []), ...nameUnnamed(all)];
  };
  for await (const batch of readTable(source, preset, fileName)) {
    for (const record of batch) {
      if (record.fatal === true) throw new Error(`line ${record.line} ${record.error}`);
      // All rows of a CSV have the columns of the first; those of a feed, or of JSON, are known only at its end.
      if (columns === undefined && record.columns !== undefined && source.format === 'csv')
        lookAt(record.columns);
      columns = record.columns ?? columns;
      join.survey(record);
    }
  }
  const allColumns = source.format === 'csv' ? undefined : columns;
  if (allColumns !== undefined) lookAt(allColumns);
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
      return { line, raw, fields: addMapped(draft, mapper, request), columns, position };
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
  for await (const batch of readTable(second, preset, fileName)) {
    for (const record of batch) {
      position += 1;
      notices.rows = position;
      const joined = join.take(allColumns === undefined ? record : { ...record, columns: allColumns });
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
function addMapped(draft: Draft, mapper: Mapper, { mapping, set }: ImportArguments): Record<string, unknown> {
  const members = toMembers(draft);
  const { own } = draft;
  const { attributes, stock, weight, ...mapped } = mapper.map(own.value, own.columns.all);
  requireCurrency(draft, mapped);
  const isWhole = mapping.has('stock') || set.has('stock');
  const all =
    isReadable(members.attributes) && isReadable(attributes)
      ? { ...members.attributes, ...attributes }
      : attributes;
  return {
    ...members,
    ...mapped,
    ...(stock === undefined ? {} : { stock: isWhole ? stock : addStock(members.stock, stock) }),
    ...(weight === undefined ? {} : { weight: addWeight(members.weight, weight) }),
    ...(all === undefined ? {} : { attributes: all, attributesByKey: true }),
  };
}

/** An object that has been read, not one that says why it could not be. */
const isReadable = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && !(value instanceof Unreadable);

/** Members such as `stock.backorder` leave the others to the preset; a number of pieces means that they are counted. */
function addStock(own: unknown, given: unknown): unknown {
  if (!isObject(own) || !isReadable(given)) return given;
  const { tracked, ...others } = own;
  return { ...others, ...(given.onHand === undefined ? { tracked } : {}), ...given };
}

/** The other member stays as the preset reads it; a unit alone, beside an empty weight, is none. */
function addWeight(own: unknown, given: unknown): unknown {
  if (!isReadable(given)) return given;
  const { value, unit } = isReadable(own) ? own : {};
  const weight = { value: given.value ?? value, unit: given.unit ?? unit };
  return weight.value === undefined ? undefined : weight;
}

function toProblem({ column, problem, value }: RowProblem) {
  const shown = value === '' ? '' : ` (it is ${JSON.stringify(value)})`;
  const details = [{ field: column, pointer: '', code: 'invalid', message: problem }];
  return { error: `${column} ${problem}${shown}`, details };
}
